"""Transcripts of OpenCode.

Since 1.2 `opencode.db` in `$XDG_DATA_HOME/opencode` (`~/.local/share/opencode`, on every platform): tables `session`,
`message` and `part`, the last two with a column `data` of JSON. Before, the same objects as files:
`storage/session/<project>/<id>.json`, `storage/message/<session>/*.json`, `storage/part/<message>/*.json`. A session is
the `part` of a `Found`; of the folders, the path is the session's file, or the folder of its messages.

Known from samples of both (public fixtures of other readers); the words of a refusal and of an abort from OpenCode's
source. The database of a newer schema than these three tables gives `Lost`.
"""

from __future__ import annotations

import glob
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping

from backstory.sources.transcripts.calls import called
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.databases import columns, opened
from backstory.sources.transcripts.fields import Record, exit_code, filled, first, instant, number, record, text
from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import (
    ERROR,
    OK,
    UNKNOWN,
    AssistantText,
    Compaction,
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
)  # fmt: skip
from backstory.sources.transcripts.whole import LARGEST, Broken, WholeReader, from_bytes, parsed, stamp_of

CLIENT = "opencode"
_REJECTED = re.compile(r"The user rejected permission to use this specific tool call(?:.*feedback: (.*))?", re.DOTALL)
_ENDED = {"completed": OK, "success": OK, "error": ERROR}
_SILENT = {"step-start", "snapshot", "patch", "file", "agent", "retry"}
_REMINDER = re.compile(r"\s*<system-reminder>")
Message = tuple[Record, list[Record]]


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The sessions of every database, then those of the folders that no database has."""
    top = os.path.join(env.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "opencode")
    named = env.get("OPENCODE_DB", "")
    databases = {*glob.glob(os.path.join(glob.escape(top), "opencode*.db"))}
    databases |= {os.path.join(top, named)} if named and named != ":memory:" else set()
    known = set()
    for path in sorted(databases):
        for found in _listed(path):
            known.add(found.part)
            yield found
    for found in _folders(os.path.join(top, "storage")):
        if found.part not in known:
            yield found


def _listed(path: str) -> Iterator[Found]:
    try:
        with opened(path) as connection:
            rows = connection.execute("SELECT id, directory FROM session ORDER BY id").fetchall()
    except (OSError, sqlite3.Error, Broken):
        return
    for key, folder in rows:
        yield Found(CLIENT, path, str(key), folders=(folder,) if text(folder) else ())


def _folders(storage: str) -> Iterator[Found]:
    escaped = glob.escape(storage)
    paths = {os.path.basename(path): path for path in glob.glob(os.path.join(escaped, "message", "*"))}
    for path in glob.glob(os.path.join(escaped, "session", "*", "*.json")):
        try:
            paths[text(record(parsed(path)).get("id")) or os.path.basename(path)[:-5]] = path
        except (OSError, Broken):
            continue
    for key, path in sorted(paths.items(), key=lambda pair: pair[1]):
        yield Found(CLIENT, path, key)


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one session."""
    if os.path.isdir(found.path) or found.path.endswith(".json"):
        return WholeReader(cursor, lambda: stamp_of(_paths(found)), lambda: _stored(found))
    return WholeReader(cursor, lambda: _stamp(found), lambda: _items(*_rows(found)))


def _stamp(found: Found) -> str:
    with opened(found.path) as connection:
        if not (columns(connection, "message") and columns(connection, "part")):
            raise Broken("a database without the tables message and part")
        counts = [
            connection.execute(
                f"SELECT count(*), max(time_updated), total(length(data)) FROM {table} WHERE session_id = ?",
                (found.part,),
            ).fetchone()
            for table in ("message", "part")
        ]
        session = _session_row(connection, found.part)
    return repr((*counts, session.get("time_updated"), session.get("title")))


def _session_row(connection: sqlite3.Connection, key: str) -> Record:
    if "id" not in columns(connection, "session"):
        return {}
    rows = connection.execute("SELECT * FROM session WHERE id = ?", (key,))
    names = [column[0] for column in rows.description]
    row = rows.fetchone()
    return dict(zip(names, row, strict=True)) if row else {}


def _rows(found: Found) -> tuple[Record, list[Message], list[str]]:
    lost: list[str] = []
    with opened(found.path) as connection:
        row = _session_row(connection, found.part)
        query = "SELECT id, {0}time_created, data FROM {1} WHERE session_id = ? ORDER BY time_created, id"
        size = 0
        parts: dict[str, list[Record]] = {}
        for key, message, created, data in connection.execute(query.format("message_id, ", "part"), (found.part,)):
            if (size := size + len(data or "")) > LARGEST:
                raise Broken(f"a session of more than {LARGEST >> 20} MB")
            parts.setdefault(str(message), []).append(_object(data, key, created, lost))
        messages = [
            (_object(data, key, created, lost), parts.pop(str(key), []))
            for key, created, data in connection.execute(query.format("", "message"), (found.part,))
        ]
    # A part whose message is gone still says something, and nobody's role.
    messages += [({"id": key}, rest) for key, rest in parts.items()]
    session = {"id": found.part, **row, "parentID": row.get("parent_id"), "time": {"created": row.get("time_created")}}
    return session, messages, lost


def _object(data: object, key: object, created: object, lost: list[str]) -> Record:
    try:
        fields = from_bytes(data) if isinstance(data, str | bytes) else None
    except Broken:
        fields = None
    if not isinstance(fields, dict):
        lost.append(f"row {key}: no JSON")
        fields = {}
    return {"id": key, "created": created, **fields}


def _paths(found: Found) -> list[str]:
    paths, folder = [found.path], _messages_folder(found)
    if not os.path.isdir(found.path):
        os.stat(found.path)
    for path in _within(folder):
        paths.append(path)
    return paths + [part for path in paths[1:] for part in _within(_parts_folder(folder, path))] + _flat(folder)


def _messages_folder(found: Found) -> str:
    if os.path.isdir(found.path):
        return found.path
    storage = os.path.dirname(os.path.dirname(os.path.dirname(found.path)))
    return os.path.join(storage, "message", _key(found.path))


def _key(path: str) -> str:
    try:
        return text(record(parsed(path)).get("id")) or os.path.basename(path)[:-5]
    except Broken:
        return os.path.basename(path)[:-5]


def _within(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.json")))


def _parts_folder(messages: str, path: str) -> str:
    try:
        key = text(record(parsed(path)).get("id"))
    except (OSError, Broken):
        key = ""
    return os.path.join(os.path.dirname(os.path.dirname(messages)), "part", key or os.path.basename(path)[:-5])


def _flat(messages: str) -> list[str]:
    """Parts in one folder for all messages: the oldest layout."""
    return _within(os.path.join(os.path.dirname(os.path.dirname(messages)), "part"))


def _stored(found: Found) -> Iterator[Item]:
    lost: list[str] = []
    session: Record = {"id": found.part or os.path.basename(found.path)}
    if not os.path.isdir(found.path):
        session |= _file(found.path, lost)
    folder = _messages_folder(found)
    flat: dict[str, list[Record]] = {}
    for path in _flat(folder):
        part = _file(path, lost)
        flat.setdefault(text(part.get("messageID")), []).append(part)
    messages = []
    for path in _within(folder):
        message = _file(path, lost)
        parts = [_file(part, lost) for part in _within(_parts_folder(folder, path))]
        messages.append((message, parts or flat.get(text(message.get("id")), [])))
    messages.sort(key=lambda each: number(record(each[0].get("time")).get("created")))
    return _items(session, messages, lost)


def _file(path: str, lost: list[str]) -> Record:
    try:
        return record(parsed(path))
    except (OSError, Broken) as exc:
        lost.append(f"{os.path.basename(path)}: {exc.strerror if isinstance(exc, OSError) else exc}")
        return {}


def _items(session: Record, messages: list[Message], lost: list[str]) -> Iterator[Item]:
    parent = text(session.get("parentID"))
    yield Facts(
        0,
        instant(record(session.get("time")).get("created")),
        session=text(session.get("id")),
        cwd=text(session.get("directory")),
        version=text(session.get("version")),
        parent=parent,
        title=text(session.get("title")),
    )
    for why in lost:
        yield Lost(0, None, why)
    known, offset = ("", "", ""), 0
    for message, parts in messages:
        at = instant(record(message.get("time")).get("created")) or instant(message.get("created"))
        facts = _facts(offset, at, message, bool(parent))
        if (facts.model, facts.cwd, facts.agent) != known and (facts.model or facts.cwd or facts.agent):
            known = (facts.model, facts.cwd, facts.agent)
            yield facts
        for part in parts:
            yield from filled(_part(offset, at, message, part, bool(parent)))
            offset += 1
        yield from _after(offset, at, message)
        offset += 1


def _facts(offset: int, at: int | None, message: Record, child: bool) -> Facts:
    model, path = record(message.get("model")), message.get("path")
    return Facts(
        offset,
        at,
        cwd=text(record(path).get("cwd")) or text(path),
        model=first(message, "modelID") or text(model.get("modelID")),
        provider=first(message, "providerID") or text(model.get("providerID")),
        agent=first(message, "agent", "mode") if child else "",
    )


def _after(offset: int, at: int | None, message: Record) -> Iterator[Item]:
    tokens = record(message.get("tokens"))
    cached = number(record(tokens.get("cache")).get("read"))
    read, written = number(tokens.get("input")), number(tokens.get("output")) + number(tokens.get("reasoning"))
    if read or written:
        yield Spent(offset, at, read + cached, written, cached)
    if "Aborted" in text(record(message.get("error")).get("name")):
        yield Interrupt(offset, instant(record(message.get("time")).get("completed")) or at)


def _part(offset: int, at: int | None, message: Record, part: Record, child: bool) -> Iterator[Item]:
    times = record(part.get("time"))
    at = instant(times.get("start")) or instant(part.get("created")) or at
    kind, content = text(part.get("type")), text(part.get("text"))
    if kind == "text":
        yield from _text(offset, at, message, part, child)
    elif kind == "reasoning":
        yield Thinking(offset, at, content)
    elif kind == "tool":
        yield from _tool(offset, at, part)
    elif kind == "compaction":
        yield Compaction(offset, at, content)
    elif kind == "subtask":
        yield Injected(offset, at, first(part, "prompt", "description"), "agent")
    elif kind not in _SILENT and kind != "step-finish" and part:
        if content:
            yield from _text(offset, at, message, part, child)
        yield Unknown(offset, at, kind)


def _text(offset: int, at: int | None, message: Record, part: Record, child: bool) -> Iterator[Item]:
    content, role = text(part.get("text")), text(message.get("role"))
    if part.get("synthetic") is True or part.get("ignored") is True:
        yield Injected(offset, at, content, "reminder" if _REMINDER.match(content) else "other")
    elif role == "assistant":
        yield Compaction(offset, at, content) if message.get("summary") is True else AssistantText(offset, at, content)
    elif role == "user":
        if child:
            yield Injected(offset, at, content, "agent")
        else:
            yield from spoken(offset, at, content, text(message.get("id")))
    else:
        yield Injected(offset, at, content, "other")


def _tool(offset: int, at: int | None, part: Record) -> Iterator[Item]:
    state, call = record(part.get("state")), first(part, "callID", "id")
    yield from called(offset, at, call, text(part.get("tool")), state.get("input"))
    status = text(state.get("status"))
    if status in ("pending", "running", ""):
        return
    ended = instant(record(state.get("time")).get("end")) or at
    why, given = text(state.get("error")), text(state.get("output"))
    if refused := _REJECTED.search(why):
        yield Rejection(offset, ended, call, (refused[1] or "").strip())
    code = exit_code(record(state.get("metadata")).get("exit"))
    outcome = ERROR if code else _ENDED.get(status, UNKNOWN)
    yield Result(offset, ended, call, outcome, why or given, code)
    if "aborted" in why:
        yield Interrupt(offset, ended, call)
