"""Transcripts of Gemini CLI.

`~/.gemini/tmp/<hash or name>/chats/session-*.json`, one object with `messages`, and since 2026 `*.jsonl`: a first line
about the session, then messages, `{"$set": {...}}` (what it sets replaces; with `messages` after a compression or at
the start) and `{"$rewindTo": id}`, which takes back that message and all behind it. A message is written again, whole,
when its calls get results. A sub-agent's file stands in `chats/<parent's session id>/`.

Known from samples of both forms (public fixtures of other readers) and from chatRecordingService.ts of Gemini CLI.
The records hold a hash of the project's path; the path itself is in `.project_root` beside `chats`, or in
`~/.gemini/projects.json`, or the files say it (`directories`).
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b

import msgspec

from backstory.sources.transcripts.calls import called, does_what
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import Record, filled, first, instant, number, record, records, said, text
from backstory.sources.transcripts.lines import Feed, LineReader, decoded, raw_lines
from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import (
    ERROR,
    OK,
    SHELL,
    UNKNOWN,
    AssistantText,
    Compaction,
    Facts,
    Injected,
    Interrupt,
    Item,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)  # fmt: skip
from backstory.sources.transcripts.whole import Broken, WholeReader, parsed, stamp_of

CLIENT = "gemini"
_REWIND = b'"$rewindTo"'
_ENDED = {"success": OK, "error": ERROR, "cancelled": ERROR}
_EXIT = re.compile(r"(?:^|\n|\\n)Exit Code: (-?\d{1,9})")
_CONTEXT = re.compile(r"\s*(?:<session_context>|This is the Gemini CLI\. We are setting up the context)")
_SUMMARY = re.compile(r"\s*<(?:state_snapshot|compressed_chat_history)>")
_FILES = re.compile(r"\n?(--- Content from referenced files ---.*)", re.DOTALL)


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The sessions, with their project's folder where Gemini CLI wrote it down."""
    top = os.path.join(env.get("GEMINI_CLI_HOME") or home, ".gemini")
    names = _names(os.path.join(top, "projects.json"))
    place = os.path.join(glob.escape(os.path.join(top, "tmp")), "*", "chats")
    found = {*glob.glob(os.path.join(place, "*.json*")), *glob.glob(os.path.join(place, "*", "*.json*"))}
    # A session that went on after the change of forms is there twice, the old file whole within the new one.
    for path in sorted(found - {path[:-1] for path in found if path.endswith("l")}):
        within, chats = os.path.split(os.path.dirname(path))
        project = within if chats == "chats" else os.path.dirname(within)
        folder = _root(project) or names.get(os.path.basename(project), "")
        yield Found(CLIENT, path, folders=(folder,) if folder else ())


def _root(project: str) -> str:
    try:
        with open(os.path.join(project, ".project_root"), encoding="utf-8", errors="replace") as file:
            found = file.read(4_096).strip()
    except OSError:
        return ""
    return found if os.path.isabs(found) else ""


def _names(path: str) -> dict[str, str]:
    try:
        known = record(record(parsed(path)).get("projects"))
    except (OSError, Broken):
        return {}
    return {name: folder for folder, name in known.items() if isinstance(name, str) and os.path.isabs(folder)}


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one session, in either form."""
    if found.path.endswith(".json"):
        return WholeReader(cursor, lambda: stamp_of([_there(found.path)]), lambda: _whole(found.path))
    if not cursor.offset:
        return _reader(found, cursor, _taken_back(found.path))
    reader = _reader(found, cursor, frozenset())
    if reader.began_anew or _mentions(found.path, cursor.offset):
        # What is taken back now was given before: everything is read again, without it.
        reader = _reader(found, Cursor(), _taken_back(found.path))
        reader.began_anew = True
    return reader


def _there(path: str) -> str:
    os.stat(path)
    return path


def _reader(found: Found, cursor: Cursor, gone: frozenset[tuple[int, str]]) -> LineReader:
    messages = _Messages(_parent(found.path), gone)

    def restore(state: bytes) -> Feed:
        messages.restore(state)
        return messages.line

    return LineReader(found.path, cursor, restore, messages.save)


def _parent(path: str) -> str:
    folder = os.path.dirname(path)
    above = os.path.basename(os.path.dirname(folder))
    return os.path.basename(folder) if above == "chats" else ""


def _taken_back(path: str) -> frozenset[tuple[int, str]]:
    """The messages that were taken back, by the line that they stand in and their id."""
    if not _mentions(path, 0):
        return frozenset()
    standing: dict[str, list[int]] = {}
    gone: set[tuple[int, str]] = set()
    for offset, line, _ in raw_lines(path, 0):
        fields = record(decoded(line)) if isinstance(line, bytes) and line else {}
        replaced = record(fields.get("$set")).get("messages")
        if target := text(fields.get("$rewindTo")):
            known = list(standing)
            # An id that is not there takes back everything: so Gemini CLI reads it.
            for key in known[known.index(target) if target in standing else 0 :]:
                gone.update((each, key) for each in standing.pop(key))
        elif isinstance(replaced, list):
            # What a compression leaves out was said all the same: nothing takes it back any more.
            keys = [key for message in records(replaced) if (key := text(message.get("id")))]
            standing = {key: [*standing.get(key, ()), offset] for key in keys}
        elif key := text(fields.get("id")):
            standing.setdefault(key, []).append(offset)
    return frozenset(gone)


def _mentions(path: str, start: int) -> bool:
    """Whether something is taken back in a whole line behind `start`."""
    try:
        return any(isinstance(line, bytes) and _REWIND in line for _, line, _ in raw_lines(path, start))
    except OSError:
        # Whoever iterates the reader is told.
        return False


def _whole(path: str) -> Iterator[Item]:
    found = parsed(path)
    if not isinstance(found, dict | list):
        raise Broken("no session")
    return _session(found if isinstance(found, dict) else {"messages": found})


def _session(found: Record) -> Iterator[Item]:
    messages = _Messages("")
    model = first(record(found.get("meta")), "model")
    yield from messages.about(0, {**found, "model": model, "messages": None})
    # `history` holds the bare turns of a checkpoint.
    for index, message in enumerate(records(found.get("messages")) or records(found.get("history"))):
        yield from messages.message(index, message)


class _Messages:
    """What was given so far, so that a message that is written again gives only what is new in it."""

    def __init__(self, parent: str, gone: frozenset[tuple[int, str]] = frozenset()) -> None:
        self._parent, self._gone = parent, gone
        self._given, self._told = dict[str, None](), Facts(0, None)

    def restore(self, state: bytes) -> None:
        try:
            self._given = dict.fromkeys(msgspec.json.decode(state, type=list[str])) if state else {}
        except msgspec.DecodeError:
            self._given = {}

    def save(self) -> bytes:
        return msgspec.json.encode(list(self._given))

    def _new(self, *words: object) -> bool:
        key = blake2b(repr(words).encode("utf-8", "replace"), digest_size=6).hexdigest()
        known = key in self._given
        self._given[key] = None
        return not known

    def line(self, offset: int, line: Record) -> Iterator[Item]:
        """A line: about the session, or a message."""
        if "$rewindTo" in line:
            return
        if "$set" in line or ("sessionId" in line and "type" not in line):
            changes = record(line.get("$set")) if "$set" in line else line
            yield from self.about(offset, changes)
            for message in records(changes.get("messages")):
                yield from self.message(offset, message)
        else:
            yield from self.message(offset, line)

    def about(self, offset: int, fields: Record) -> Iterator[Item]:
        """The facts of a session; the hash of the project is none."""
        folders = fields.get("directories")
        facts = Facts(
            offset,
            instant(fields.get("startTime")),
            session=text(fields.get("sessionId")),
            cwd=text(folders[0]) if isinstance(folders, list) and folders else "",
            provider="google" if text(fields.get("sessionId")) else "",
            model=text(fields.get("model")),
            parent=self._parent,
            agent="subagent" if fields.get("kind") == "subagent" else "",
            title=text(fields.get("summary")),
        )
        if any((facts.session, facts.cwd, facts.model, facts.title)):
            yield facts

    def message(self, offset: int, message: Record) -> Iterator[Item]:
        """What a message says, without what it said before."""
        at = instant(message.get("timestamp")) or instant(message.get("ts"))
        key, kind = text(message.get("id")) or f"@{offset}", first(message, "type", "role")
        if (offset, key) in self._gone:
            return
        content = said(message.get("content")) or said(message.get("parts"))
        if kind == "user":
            if content and self._new(key, content):
                yield from filled(self._user(offset, at, key, content))
            yield from self._responses(offset, at, message)
        elif kind in ("gemini", "model", "assistant"):
            yield from filled(self._answer(offset, at, key, content, message))
        elif self._new(key, content):
            if kind == "info" and content.startswith("Request cancelled"):
                yield Interrupt(offset, at)
            elif content:
                yield Injected(offset, at, content, "other")
            if kind not in ("info", "error", "warning"):
                yield Unknown(offset, at, kind)

    def _user(self, offset: int, at: int | None, key: str, content: str) -> Iterator[Item]:
        if self._parent:
            yield Injected(offset, at, content, "agent")
        elif _SUMMARY.match(content):
            yield Compaction(offset, at, content)
        elif _CONTEXT.match(content):
            yield Injected(offset, at, content, "environment")
        elif added := _FILES.search(content):
            yield from spoken(offset, at, content[: added.start()], key)
            yield Injected(offset, at, added[1], "ide")
        else:
            yield from spoken(offset, at, content, key)

    def _answer(self, offset: int, at: int | None, key: str, content: str, message: Record) -> Iterator[Item]:
        model = text(message.get("model"))
        if model and model != self._told.model:
            self._told = Facts(offset, at, model=model)
            yield self._told
        for thought in records(message.get("thoughts")):
            words = "\n".join(part for part in (text(thought.get("subject")), text(thought.get("description"))) if part)
            if self._new(key, "thought", words):
                yield Thinking(offset, instant(thought.get("timestamp")) or at, words)
        if content and self._new(key, content):
            yield AssistantText(offset, at, content)
        for index, call in enumerate(records(message.get("toolCalls"))):
            yield from self._call(offset, at, text(call.get("id")) or f"{key}.{index}", call)
        for part in records(message.get("parts")):
            if asked := record(part.get("functionCall")):
                yield from called(offset, at, first(asked, "id", "name"), text(asked.get("name")), asked.get("args"))
        tokens = record(message.get("tokens"))
        if tokens and self._new(key, "tokens"):
            written = number(tokens.get("output")) + number(tokens.get("thoughts"))
            yield Spent(offset, at, number(tokens.get("input")), written, number(tokens.get("cached")))

    def _call(self, offset: int, at: int | None, key: str, call: Record) -> Iterator[Item]:
        tool, status = text(call.get("name")), text(call.get("status"))
        if self._new(key, "call"):
            yield from called(offset, at, key, tool, call.get("args"))
        if status and status not in _ENDED and status not in ("scheduled", "executing", "validating"):
            yield from () if status == "awaiting_approval" else (Unknown(offset, at, f"status {status}"),)
        answer = _answered(call)
        if not (status in _ENDED or answer) or not self._new(key, "result"):
            return
        ended = instant(call.get("timestamp")) or at
        if status == "cancelled":
            yield Rejection(offset, ended, key)
        code = int(found[-1]) if does_what(tool) == SHELL and (found := _EXIT.findall(answer)) else None
        outcome = _ENDED.get(status, UNKNOWN) if not code else ERROR
        yield Result(offset, ended, key, outcome, answer or text(call.get("resultDisplay")), code)

    def _responses(self, offset: int, at: int | None, message: Record) -> Iterator[Item]:
        for name in ("content", "parts"):
            for part in records(message.get(name)):
                answer = record(part.get("functionResponse"))
                if answer and self._new(first(answer, "id", "name"), "result"):
                    yield Result(offset, at, first(answer, "id", "name"), UNKNOWN, _output(answer))


def _answered(call: Record) -> str:
    found = call.get("result")
    parts = [found] if isinstance(found, dict) else records(found)
    texts = (_output(record(part.get("functionResponse"))) or text(part.get("text")) for part in parts)
    return "\n".join(each for each in texts if each)


def _output(answer: Record) -> str:
    response = record(answer.get("response"))
    return first(response, "output", "error", "content")
