"""Chats that VS Code itself keeps of Copilot: `workspaceStorage/<hash>/chatSessions/<id>.json`, since 2026 `.jsonl`.

One object with `requests`; as lines, a first object (`kind` 0) and what changed in it since (1 sets the value at a
path, 2 adds to the list there, 3 takes away). A request has `message`, what was shown (`response`) and, when it ended,
`result.metadata.toolCallRounds` with what the model said and called, and `toolCallResults` by call. A result is a tree
of texts without a mark of success; that of an edit says it in words. Known from samples of both forms (public fixtures
of another reader).
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator

from backstory.sources.transcripts.calls import called
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import (
    Record,
    exit_code,
    filled,
    first,
    folder_of,
    instant,
    record,
    records,
    text,
)
from backstory.sources.transcripts.lines import decoded, raw_lines
from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import (
    ERROR,
    OK,
    UNKNOWN,
    AssistantText,
    Facts,
    Interrupt,
    Item,
    Lost,
    Result,
    Thinking,
)
from backstory.sources.transcripts.whole import LARGEST, Broken, WholeReader, parsed, stamp_of

_FIRST, _SET, _ADD = 0, 1, 2
_CANCELLED = 2
_DEEPEST = 60
_DONE = "The following files were successfully edited:"
_EMPTY_FENCE = re.compile(r"\n`{3,}\n")
_EXIT = re.compile(r"exited with (?:exit )?code:? (-?\d{1,9})")


def files(user: str) -> Iterator[str]:
    """The chats below an editor's `User` folder; not those that Copilot Chat wrote down itself, as events."""
    storage = os.path.join(glob.escape(user), "workspaceStorage", "*")
    found = glob.glob(os.path.join(storage, "chatSessions", "*.json*"))
    found += glob.glob(os.path.join(glob.escape(user), "globalStorage", "emptyWindowChatSessions", "*.json*"))
    for path in found:
        window, name = os.path.dirname(os.path.dirname(path)), os.path.splitext(os.path.basename(path))[0]
        if not os.path.exists(os.path.join(window, "GitHub.copilot-chat", "transcripts", name + ".jsonl")):
            yield path


def is_chat(path: str) -> bool:
    """Whether a file is of this form."""
    if path.endswith(".json"):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(16).startswith(b'{"kind":')
    except OSError:
        return False


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one chat."""
    return WholeReader(cursor, lambda: _stamp(found.path), lambda: _items(found.path))


def _stamp(path: str) -> str:
    os.stat(path)
    return stamp_of([path])


def _items(path: str) -> Iterator[Item]:
    lost: list[str] = []
    chat = parsed(path) if path.endswith(".json") else _replayed(path, lost)
    if not isinstance(chat, dict):
        raise Broken("no chat")
    return _told(chat, lost)


def _replayed(path: str, lost: list[str]) -> object:
    if os.path.getsize(path) > LARGEST:
        raise Broken(f"a file of more than {LARGEST >> 20} MB")
    chat: object = {}
    for _, line, _ in raw_lines(path, 0):
        change = decoded(line) if isinstance(line, bytes) else line
        if isinstance(change, dict):
            chat = change.get("v") if change.get("kind") == _FIRST else _changed(chat, change)
        elif line:
            lost.append(change or "no object")
    return chat


def _changed(chat: object, change: Record) -> object:
    """The chat with one change made in it; one whose path leads nowhere is left out."""
    path = change.get("k")
    if not isinstance(path, list) or not path or not isinstance(chat, dict):
        return chat
    place: object = chat
    for step in path[:-1]:
        place = _at(place, step)
    last, kind, value = path[-1], change.get("kind"), change.get("v")
    if kind == _ADD:
        there = _at(place, last)
        if isinstance(there, list):
            start = exit_code(change.get("i"))
            there[start if start is not None and 0 <= start <= len(there) else len(there) :] = (
                value if isinstance(value, list) else []
            )
            return chat
        kind = _SET
    if isinstance(place, dict) and isinstance(last, str):
        place.pop(last, None)
        if kind == _SET:
            place[last] = value
    elif isinstance(place, list) and isinstance(last, int) and 0 <= last < len(place) and kind == _SET:
        place[last] = value
    return chat


def _at(place: object, step: object) -> object:
    if isinstance(place, dict):
        return place.get(step) if isinstance(step, str) else None
    fits = isinstance(place, list) and isinstance(step, int) and 0 <= step < len(place)
    return place[step] if fits else None  # type: ignore[index]


def _told(chat: Record, lost: list[str]) -> Iterator[Item]:
    yield Facts(
        0, instant(chat.get("creationDate")), session=text(chat.get("sessionId")), title=text(chat.get("customTitle"))
    )
    for why in lost:
        yield Lost(0, None, why)
    model = ""
    for offset, request in enumerate(records(chat.get("requests"))):
        at = instant(request.get("timestamp"))
        now = text(request.get("modelId"))
        if now and now != model:
            model = now
            provider, _, name = now.rpartition("/")
            yield Facts(offset, at, model=name, provider=provider)
        yield from filled(_request(offset, at, request))


def _request(offset: int, at: int | None, request: Record) -> Iterator[Item]:
    yield from spoken(offset, at, text(record(request.get("message")).get("text")), text(request.get("requestId")))
    metadata = record(record(request.get("result")).get("metadata"))
    rounds = records(metadata.get("toolCallRounds"))
    results = record(metadata.get("toolCallResults"))
    for each in rounds:
        yield Thinking(offset, at, text(record(each.get("thinking")).get("text")))
        yield AssistantText(offset, at, text(each.get("response")))
        for call in records(each.get("toolCalls")):
            key = text(call.get("id"))
            yield from called(offset, at, key, text(call.get("name")), call.get("arguments"))
            if key in results:
                said = "".join(_texts(results[key], 0))
                code = int(found[1]) if (found := _EXIT.search(said)) else None
                yield Result(offset, at, key, _outcome(code, said), said, code)
    if not rounds:
        yield from _shown(offset, at, records(request.get("response")))
    if request.get("isCanceled") is True or record(request.get("modelState")).get("value") == _CANCELLED:
        yield Interrupt(offset, at)


def _texts(value: object, depth: int) -> Iterator[str]:
    """The texts of a result's tree, in their order."""
    if isinstance(value, list) and depth < _DEEPEST:
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        yield text(value.get("text"))
        for name in ("content", "value", "node", "children"):
            yield text(value.get(name)) if isinstance(value.get(name), str) else ""
            yield from _texts(value.get(name), depth + 1)


def _shown(offset: int, at: int | None, parts: list[Record]) -> Iterator[Item]:
    """What was shown of an answer whose rounds were not kept."""
    said = ""
    for index, part in enumerate(parts):
        kind = text(part.get("kind"))
        if kind in ("", "markdownContent"):
            said += first(part, "value") or first(record(part.get("content")), "value")
        elif kind == "inlineReference":
            said += f"`{os.path.basename(folder_of(record(part.get('inlineReference')).get('path')))}`"
        elif kind == "thinking":
            yield Thinking(offset, at, text(part.get("value")))
        elif kind == "toolInvocationSerialized":
            yield AssistantText(offset, at, _aloud(said))
            said = ""
            yield from _ran(offset, at, text(part.get("toolCallId")) or f"{offset}.{index}", part)
    yield AssistantText(offset, at, _aloud(said))


def _aloud(said: str) -> str:
    # Where an edit stood, VS Code leaves the fences of it.
    return _EMPTY_FENCE.sub("\n", said).strip()


def _ran(offset: int, at: int | None, call: str, part: Record) -> Iterator[Item]:
    tool, more = text(part.get("toolId")).removeprefix("copilot_"), record(part.get("toolSpecificData"))
    line = more.get("commandLine", more.get("command"))
    command = text(line) or first(record(line), "userEdited", "toolEdited", "original")
    yield from called(offset, at, call, tool, {"command": command} if command else more.get("rawInput"))
    code = exit_code(record(more.get("terminalCommandState")).get("exitCode"))
    if part.get("isComplete") is True:
        yield Result(offset, at, call, _outcome(code, ""), "", code)


def _outcome(code: int | None, said: str) -> str:
    return ERROR if code else OK if code == 0 or said.startswith(_DONE) else UNKNOWN
