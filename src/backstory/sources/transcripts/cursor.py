"""Transcripts of Cursor: of its CLI and of newer versions of the editor; `cursor_ide` reads the editor's database.

`~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl` (or `<id>.jsonl`, and a sub-agent's in `subagents/`),
lines `{role, message: {content: [parts]}}` and `{type: "turn_ended", status}`. They carry no times, no folder, no
model; calls have often no id, and results are mostly left out. What a person typed stands in `<user_query>`.

Known from samples (public fixtures of other readers). The project's folder is in `.workspace-trusted` beside the
transcripts (`workspacePath`), known from public code that reads or writes that file.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping

import msgspec

from backstory.sources.transcripts import cursor_ide
from backstory.sources.transcripts.calls import called
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import Record, filled, first, instant, record, records, said, text
from backstory.sources.transcripts.lines import Feed, LineReader
from backstory.sources.transcripts.stream import (
    ERROR,
    OK,
    UNKNOWN,
    AssistantText,
    Ended,
    Facts,
    Injected,
    Item,
    Result,
    Thinking,
    Unknown,
)
from backstory.sources.transcripts.tagged import Tags
from backstory.sources.transcripts.whole import Broken, parsed

CLIENT = "cursor"
_PUT = {
    "environment": "user_info git_status project_layout timestamp mcp_file_system agent_transcripts"
    " terminal_files_information",
    "ide": "open_and_recently_viewed_files attached_files additional_data image_files code_selection external_links"
    " current_file linter_errors",
    "instructions": "rules user_rules always_applied_workspace_rules agent_requestable_workspace_rules agent_skills"
    " cursor_commands",
    "reminder": "system_reminder system-reminder system_notification",
    "summary": "summary_content",
    "agent": "task_notification",
}
TAGS = Tags(("user_query",), {tag: origin for origin, tags in _PUT.items() for tag in tags.split()})
# Stands for the model's thoughts, which Cursor leaves out.
_LEFT_OUT = re.compile(r"\s*\[REDACTED\]\s*$")
_RESULTS = ("tool_result", "tool-result")
_CALLS = ("tool_use", "tool_call", "tool-call")
_OUTCOMES = {"success": OK, "completed": OK, "error": ERROR, "failure": ERROR, "failed": ERROR}
_ENDS = {
    "success": "done",
    "completed": "done",
    "error": "failed",
    "aborted": "interrupted",
    "cancelled": "interrupted",
}
_MOST_OPEN = 64


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts of lines, then the sessions of the editor's database."""
    top = os.path.join(home, ".cursor", "projects")
    for project in sorted(glob.glob(os.path.join(glob.escape(top), "*"))):
        folder = _trusted(project)
        place = os.path.join(glob.escape(project), "agent-transcripts")
        for path in sorted(glob.glob(os.path.join(place, "**", "*.jsonl"), recursive=True)):
            yield Found(CLIENT, path, parent=_parent(path), folders=(folder,) if folder else ())
    yield from cursor_ide.files(env, home)


def _trusted(project: str) -> str:
    try:
        found = text(record(parsed(os.path.join(project, ".workspace-trusted"))).get("workspacePath"))
    except (OSError, Broken):
        return ""
    return found


def _parent(path: str) -> str:
    folder = os.path.dirname(path)
    if os.path.basename(folder) != "subagents":
        return ""
    above = os.path.dirname(folder)
    return os.path.join(above, os.path.basename(above) + ".jsonl")


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one session."""
    if found.path.endswith(".vscdb"):
        return cursor_ide.open_reader(found, cursor)
    lines = _Lines(found.path)

    def restore(state: bytes) -> Feed:
        lines.restore(state)
        return lines.line

    return LineReader(found.path, cursor, restore, lines.save)


class _State(msgspec.Struct):
    """The calls that wait for a result, each as (id, tool), and the model."""

    begun: bool = False
    open: list[tuple[str, str]] = []
    model: str = ""


class _Lines:
    def __init__(self, path: str) -> None:
        parent = _parent(path)
        self._session = os.path.basename(path)[: -len(".jsonl")]
        self._parent = os.path.basename(parent)[: -len(".jsonl")]
        self._state = _State()

    def restore(self, state: bytes) -> None:
        try:
            self._state = msgspec.json.decode(state, type=_State) if state else _State()
        except msgspec.DecodeError:
            self._state = _State()

    def save(self) -> bytes:
        return msgspec.json.encode(self._state)

    def line(self, offset: int, line: Record) -> Iterator[Item]:
        """The items of one line."""
        at = instant(line.get("timestamp"))
        model = first(line, "model")
        if not self._state.begun or (model and model != self._state.model):
            agent = "subagent" if self._parent else ""
            yield Facts(offset, at, session=self._session, model=model, parent=self._parent, agent=agent)
            self._state.begun, self._state.model = True, model or self._state.model
        role, kind = text(line.get("role")), text(line.get("type"))
        content = record(line.get("message")).get("content", line.get("content"))
        if role in ("user", "assistant"):
            yield from filled(self._message(offset, at, role, content, line))
        elif kind == "turn_ended":
            yield Ended(offset, at, _ENDS.get(text(line.get("status")), "failed"))
        else:
            yield from filled([Injected(offset, at, said(content), "other")])
            yield Unknown(offset, at, role or kind)

    def _message(self, offset: int, at: int | None, role: str, content: object, line: Record) -> Iterator[Item]:
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for index, part in enumerate(records(content)):
            kind, words = text(part.get("type")), first(part, "text", "thinking", "content")
            if kind in _RESULTS:
                yield self._result(offset, at, part, line)
            elif kind in _CALLS:
                yield from self._call(offset, at, index, part)
            elif kind in ("thinking", "reasoning", "redacted_thinking", "redacted-reasoning"):
                yield Thinking(offset, at, words)
            else:
                if kind not in ("text", "image", "file", ""):
                    yield Unknown(offset, at, f"{role}/{kind}")
                yield from self._said(offset, at, role, words)

    def _said(self, offset: int, at: int | None, role: str, words: str) -> Iterator[Item]:
        if role == "assistant":
            yield AssistantText(offset, at, _LEFT_OUT.sub("", words))
        else:
            # Lines have no ids: the place is one, in this session.
            yield from TAGS.items(offset, at, words, f"{self._session}@{offset}", "agent" if self._parent else "")

    def _call(self, offset: int, at: int | None, index: int, part: Record) -> Iterator[Item]:
        tool = first(part, "name", "toolName")
        call = first(part, "id", "toolCallId", "tool_use_id") or f"{offset}.{index}"
        self._state.open = [*self._state.open, (call, tool)][-_MOST_OPEN:]
        yield from called(offset, at, call, tool, part.get("input", part.get("args")))

    def _result(self, offset: int, at: int | None, part: Record, line: Record) -> Item:
        told, tool = first(part, "tool_use_id", "toolCallId"), first(part, "name", "toolName")
        # A call without an id is answered in turn.
        fits = [pair for pair in self._state.open if pair[0] == told] or [
            pair for pair in self._state.open if not tool or pair[1] == tool
        ]
        if fits:
            self._state.open.remove(fits[0])
        flag, status = (
            part.get("is_error", part.get("isError")),
            text(record(line.get("metadata")).get("toolResultStatus")),
        )
        outcome = _OUTCOMES.get(status, UNKNOWN)
        if isinstance(flag, bool):
            outcome = ERROR if flag else OK
        given = said(part.get("content")) or said(part.get("result")) or said(part.get("output"))
        return Result(offset, at, fits[0][0] if fits else told, outcome, given)
