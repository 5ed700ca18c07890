"""Sessions of Cursor's editor: `globalStorage/state.vscdb`, a SQLite file with a table `cursorDiskKV` of keys and JSON.

`composerData:<session>` lists the bubbles in their order (`fullConversationHeadersOnly`, in old versions the bubbles
themselves as `conversation`), `bubbleId:<session>:<bubble>` is one of them: type 1 a person's, type 2 the agent's, with
`text`, `thinking`, or `toolFormerData` of a call and its result. Known from public code and descriptions of versions
0.50 to 2.x only; no sample was at hand. The project's folder: of the bubbles (`workspaceUris`), and of the window whose
`workspaceStorage/<hash>/state.vscdb` lists the session.
"""

from __future__ import annotations

import glob
import os
import sqlite3
from collections.abc import Iterator, Mapping

from backstory.sources.transcripts.calls import called
from backstory.sources.transcripts.calls import opened as arguments_of
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.databases import columns, opened
from backstory.sources.transcripts.fields import (
    Record,
    exit_code,
    filled,
    first,
    folder_of,
    instant,
    number,
    record,
    records,
    text,
)
from backstory.sources.transcripts.places import vscode_users, workspace_folder
from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import (
    ERROR,
    OK,
    UNKNOWN,
    AssistantText,
    Facts,
    Injected,
    Interrupt,
    Item,
    Lost,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)
from backstory.sources.transcripts.whole import LARGEST, Broken, WholeReader, from_bytes

_SESSION, _BUBBLE = "composerData:", "bubbleId:"
_PERSON, _AGENT = 1, 2
_ENDED = {"completed": OK, "error": ERROR, "cancelled": ERROR, "aborted": ERROR, "rejected": ERROR}


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The sessions of the editor's database, each with the folder of its window."""
    for user in vscode_users(env, home, ("Cursor", "Cursor Nightly")):
        path = os.path.join(user, "globalStorage", "state.vscdb")
        windows = dict(_windows(user)) if os.path.exists(path) else {}
        for session in _sessions(path):
            folder = windows.get(session, "")
            yield Found("cursor", path, session, folders=(folder,) if folder else ())


def _sessions(path: str) -> list[str]:
    try:
        with opened(path) as connection:
            rows = connection.execute(
                "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key", (_SESSION, _after(_SESSION))
            )
            return [str(key)[len(_SESSION) :] for (key,) in rows]
    except (OSError, sqlite3.Error, Broken):
        return []


def _windows(user: str) -> Iterator[tuple[str, str]]:
    for path in sorted(glob.glob(os.path.join(glob.escape(user), "workspaceStorage", "*", "state.vscdb"))):
        folder = workspace_folder(os.path.dirname(path))
        if not folder:
            continue
        try:
            with opened(path) as connection:
                row = connection.execute("SELECT value FROM ItemTable WHERE key = 'composer.composerData'").fetchone()
            known = record(from_bytes(row[0])).get("allComposers") if row else []
        except (OSError, sqlite3.Error, Broken, TypeError):
            continue
        for session in records(known):
            yield text(session.get("composerId")), folder


def _after(prefix: str) -> str:
    """The first key behind all that begin so."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one session."""
    return WholeReader(cursor, lambda: _stamp(found), lambda: _items(*_read(found)))


def _stamp(found: Found) -> str:
    with opened(found.path) as connection:
        if not columns(connection, "cursorDiskKV"):
            raise Broken("a database without the table cursorDiskKV")
        prefix = f"{_BUBBLE}{found.part}:"
        return repr(
            connection.execute(
                "SELECT count(*), total(length(value)) FROM cursorDiskKV WHERE key >= ? AND key < ? OR key = ?",
                (prefix, _after(prefix), _SESSION + found.part),
            ).fetchone()
        )


def _read(found: Found) -> tuple[Record, list[Record], list[str]]:
    lost: list[str] = []
    prefix = f"{_BUBBLE}{found.part}:"
    with opened(found.path) as connection:
        row = connection.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (_SESSION + found.part,)).fetchone()
        rows = connection.execute(
            "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid", (prefix, _after(prefix))
        )
        bubbles: dict[str, Record] = {}
        size = 0
        for key, value in rows:
            if (size := size + len(value or "")) > LARGEST:
                raise Broken(f"a session of more than {LARGEST >> 20} MB")
            bubbles[str(key)[len(prefix) :]] = _object(value, str(key), lost)
    session = _object(row[0], _SESSION + found.part, lost) if row else {}
    session.setdefault("composerId", found.part)
    order = [text(head.get("bubbleId")) for head in records(session.get("fullConversationHeadersOnly"))]
    told = [bubbles.pop(key) for key in order if key in bubbles]
    # What the list does not name comes last, in the order in which it was written.
    return session, records(session.get("conversation")) + told + list(bubbles.values()), lost


def _object(value: object, key: str, lost: list[str]) -> Record:
    try:
        found = from_bytes(value) if isinstance(value, str | bytes) else None
    except Broken:
        found = None
    if not isinstance(found, dict):
        lost.append(f"{key}: no JSON")
    return record(found)


def _items(session: Record, bubbles: list[Record], lost: list[str]) -> Iterator[Item]:
    parent = first(record(session.get("subagentInfo")), "parentComposerId")
    yield Facts(
        0,
        instant(session.get("createdAt")),
        session=text(session.get("composerId")),
        model=first(record(session.get("modelConfig")), "modelName"),
        branch=text(session.get("createdOnBranch")),
        parent=parent,
        title=text(session.get("name")),
    )
    for why in lost:
        yield Lost(0, None, why)
    folder = model = ""
    for offset, bubble in enumerate(bubbles):
        at = instant(bubble.get("createdAt"))
        now = first(record(bubble.get("modelInfo")), "modelName")
        uris = bubble.get("workspaceUris")
        here = folder_of(uris[0]) if isinstance(uris, list) and len(uris) == 1 else ""
        if (here and here != folder) or (now and now != model):
            folder, model = here or folder, now or model
            yield Facts(offset, at, cwd=here, model=now)
        yield from filled(_bubble(offset, at, bubble, bool(parent)))
    if session.get("status") == "aborted":
        yield Interrupt(len(bubbles), instant(session.get("lastUpdatedAt")))


def _bubble(offset: int, at: int | None, bubble: Record, child: bool) -> Iterator[Item]:
    kind, words = bubble.get("type"), text(bubble.get("text"))
    if kind == _PERSON:
        if child:
            yield Injected(offset, at, words, "agent")
        else:
            yield from spoken(offset, at, words, text(bubble.get("bubbleId")))
        return
    thought = record(bubble.get("thinking"))
    yield Thinking(offset, at, text(thought.get("text")) or text(bubble.get("thinking")))
    if kind == _AGENT:
        yield AssistantText(offset, at, words)
    elif bubble:
        yield Injected(offset, at, words, "other")
        yield Unknown(offset, at, f"bubble {str(kind)[:40]}")
    if tool := record(bubble.get("toolFormerData")):
        yield from _tool(offset, at, tool, text(bubble.get("bubbleId")))
    tokens = record(bubble.get("tokenCount"))
    read, written = number(tokens.get("inputTokens")), number(tokens.get("outputTokens"))
    if read or written:
        yield Spent(offset, at, read, written)


def _tool(offset: int, at: int | None, tool: Record, bubble: str) -> Iterator[Item]:
    call, name = first(tool, "toolCallId") or bubble, text(tool.get("name"))
    # `rawArgs` is what the model wrote, `params` what became of it; paths may stand in only one of them.
    given = {**arguments_of(tool.get("params")), **arguments_of(tool.get("rawArgs"))}
    yield from called(offset, at, call, name, given)
    status, decision = text(tool.get("status")), text(tool.get("userDecision"))
    if decision == "rejected" or status == "rejected":
        yield Rejection(offset, at, call)
    if status in ("", "loading", "pending", "running") and not tool.get("result"):
        return
    result = arguments_of(tool.get("result"))
    code = next(
        (found for key in ("exitCode", "exitCodeV2") if (found := exit_code(result.get(key))) is not None), None
    )
    failed = code or decision == "rejected" or (tool.get("error") and status != "completed")
    said = first(result, "output", "contents", "content", "error", "input") or text(tool.get("result"))
    yield Result(offset, at, call, ERROR if failed else _ENDED.get(status, UNKNOWN), said, code)
