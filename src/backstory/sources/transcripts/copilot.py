"""Transcripts of GitHub Copilot: the CLI's, and those that Copilot Chat of VS Code writes in the same form.

`~/.copilot/session-state/<id>/events.jsonl` (before, `<id>.jsonl`; `history-session-state` for still older ones), lines
`{type, data, id, timestamp, parentId}`; and `workspaceStorage/<hash>/GitHub.copilot-chat/transcripts/<id>.jsonl` of VS
Code. A call is told twice, in `toolRequests` of a message and at `tool.execution_start`.

Known from samples of both (public fixtures of other readers, CLI 0.0.420 to 1.0.77); `permission.completed`,
`session.compaction_complete` and `assistant.usage` from the event schema of github/copilot-sdk. The chats that VS Code
itself keeps have another form: `copilot_chat` reads those that are not there as events.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping

import msgspec

from backstory.sources.transcripts import copilot_chat
from backstory.sources.transcripts.calls import called
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import Record, filled, first, instant, number, record, records, text
from backstory.sources.transcripts.lines import Feed, LineReader
from backstory.sources.transcripts.places import vscode_users, workspace_folder
from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import (
    ERROR,
    OK,
    UNKNOWN,
    AssistantText,
    Compaction,
    Ended,
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

CLIENT = "copilot"
_EXIT = re.compile(r"<?exited with exit code (-?\d{1,9})>?\s*$")
_RESULTS = {"success": OK, "failure": ERROR, "error": ERROR}
_REFUSED = ("rejected", "denied")
# Told elsewhere, or of no interest: what the client did, not what was said or done to the project.
_SILENT = frozenset(
    "session.info session.warning session.error session.idle session.truncation session.usage_info"
    " session.usage_checkpoint session.auto_mode_resolved session.compaction_start session.mode_changed"
    " session.plan_changed session.workspace_file_changed session.handoff session.snapshot_rewind session.tools_updated"
    " session.background_tasks_changed session.skills_loaded session.mcp_servers_loaded session.import_legacy"
    " assistant.turn_start assistant.turn_end assistant.intent assistant.message_delta assistant.reasoning_delta"
    " assistant.streaming_delta pending_messages.modified tool.execution_partial_result tool.execution_progress"
    " tool.user_requested subagent.started subagent.completed subagent.failed subagent.selected subagent.deselected"
    " hook.start hook.end permission.requested external_tool.requested external_tool.completed command.queued"
    " command.completed user_input.requested user_input.completed".split()
)  # fmt: skip


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The sessions of the CLI, then those of Copilot Chat with the folder of their window."""
    top = glob.escape(env.get("COPILOT_HOME") or os.path.join(home, ".copilot"))
    found: dict[str, tuple[str, ...]] = {}
    for place in ("session-state", "history-session-state"):
        for shape in ("*.jsonl", os.path.join("*", "events.jsonl")):
            found |= dict.fromkeys(glob.glob(os.path.join(top, place, shape)), ())
    for user in vscode_users(env, home):
        shape = os.path.join(
            glob.escape(user), "workspaceStorage", "*", "GitHub.copilot-chat", "transcripts", "*.jsonl"
        )
        for path in glob.glob(shape):
            folder = workspace_folder(os.path.dirname(os.path.dirname(os.path.dirname(path))))
            found[path] = (folder,) if folder else ()
        for path in copilot_chat.files(user):
            folder = workspace_folder(os.path.dirname(os.path.dirname(path)))
            found[path] = (folder,) if folder else ()
    for path, folders in sorted(found.items()):
        yield Found(CLIENT, path, folders=folders)


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one session."""
    if copilot_chat.is_chat(found.path):
        return copilot_chat.open_reader(found, cursor)
    events = _Events()

    def restore(state: bytes) -> Feed:
        events.restore(state)
        return events.event

    return LineReader(found.path, cursor, restore, events.save)


class _Open(msgspec.Struct):
    """Calls that were told and have no result yet, permissions that were asked for, and the model."""

    calls: dict[str, None] = {}
    asked: dict[str, str] = {}
    model: str = ""


class _Events:
    def __init__(self) -> None:
        self._open = _Open()

    def restore(self, state: bytes) -> None:
        try:
            self._open = msgspec.json.decode(state, type=_Open) if state else _Open()
        except msgspec.DecodeError:
            self._open = _Open()

    def save(self) -> bytes:
        return msgspec.json.encode(self._open)

    def event(self, offset: int, line: Record) -> Iterator[Item]:
        """The items of one line."""
        kind, data, at = text(line.get("type")), record(line.get("data")), instant(line.get("timestamp"))
        if kind == "user.message":
            yield from filled(_user(offset, at, text(line.get("id")), data))
        elif kind == "assistant.message":
            yield from filled(self._answer(offset, at, data))
        elif kind == "tool.execution_start":
            tool, args = text(data.get("toolName")), data.get("arguments")
            yield from self._call(offset, at, text(data.get("toolCallId")), tool, args)
        elif kind == "tool.execution_complete":
            self._open.calls.pop(text(data.get("toolCallId")), None)
            yield from self._model(offset, at, text(data.get("model")))
            yield from _result(offset, at, data)
        elif kind.startswith("permission."):
            yield from self._permission(offset, at, kind, data)
        elif kind.startswith("session.") and kind not in _SILENT:
            yield from self._session(offset, at, kind, data)
        elif kind not in _SILENT:
            yield from filled(_other(offset, at, kind, data))

    def _answer(self, offset: int, at: int | None, data: Record) -> Iterator[Item]:
        yield from self._model(offset, at, text(data.get("model")))
        yield Thinking(offset, at, text(data.get("reasoningText")))
        yield AssistantText(offset, at, text(data.get("content")))
        for asked in records(data.get("toolRequests")):
            tool, args = text(asked.get("name")), asked.get("arguments")
            yield from self._call(offset, at, text(asked.get("toolCallId")), tool, args)
        if written := number(data.get("outputTokens")):
            yield Spent(offset, at, 0, written)

    def _call(self, offset: int, at: int | None, call: str, tool: str, args: object) -> Iterator[Item]:
        if not call or call not in self._open.calls:
            self._open.calls[call] = None
            yield from called(offset, at, call, tool, args)

    def _model(self, offset: int, at: int | None, model: str) -> Iterator[Item]:
        if model and model != self._open.model:
            self._open.model = model
            yield Facts(offset, at, model=model)

    def _permission(self, offset: int, at: int | None, kind: str, data: Record) -> Iterator[Item]:
        key, request, answer = text(data.get("requestId")), record(data.get("permissionRequest")), data.get("result")
        if kind == "permission.requested":
            self._open.asked[key] = text(request.get("toolCallId"))
        elif kind == "permission.completed":
            call = self._open.asked.pop(key, "") or text(data.get("toolCallId"))
            if text(record(answer).get("kind")) == "denied-interactively-by-user":
                yield Rejection(offset, at, call, text(record(answer).get("feedback")))
        else:
            yield Unknown(offset, at, kind)

    def _session(self, offset: int, at: int | None, kind: str, data: Record) -> Iterator[Item]:
        if kind in ("session.start", "session.resume", "session.context_changed"):
            context = record(data.get("context")) or data
            model = text(data.get("selectedModel"))
            self._open.model = model or self._open.model
            yield Facts(
                offset,
                at,
                session=text(data.get("sessionId")),
                cwd=text(context.get("cwd")),
                branch=text(context.get("branch")),
                commit=text(context.get("headCommit")),
                model=model,
                version=text(data.get("copilotVersion")),
            )
        elif kind == "session.model_change":
            yield from self._model(offset, at, text(data.get("newModel")))
        elif kind == "session.title_changed":
            yield Facts(offset, at, title=text(data.get("title")))
        elif kind == "session.compaction_complete":
            yield Compaction(offset, at, text(data.get("summaryContent")))
        elif kind == "session.shutdown":
            yield Ended(offset, at, "failed" if data.get("shutdownType") == "error" else "done")
        else:
            yield from filled(_other(offset, at, kind, data))


def _user(offset: int, at: int | None, key: str, data: Record) -> Iterator[Item]:
    typed, sent = text(data.get("content")), text(data.get("transformedContent"))
    source = text(data.get("source"))
    if text(data.get("parentAgentTaskId")) or source.startswith(("agent", "subagent")):
        yield Injected(offset, at, typed, "agent")
        return
    if source not in ("", "user"):
        yield Injected(offset, at, typed, "instructions" if source.startswith("skill") else "other")
        return
    yield from spoken(offset, at, typed, key)
    if typed and typed in sent and sent.strip() != typed.strip():
        yield Injected(offset, at, sent.replace(typed, "", 1).strip(), "reminder")


def _result(offset: int, at: int | None, data: Record) -> Iterator[Item]:
    call, result, error = text(data.get("toolCallId")), record(data.get("result")), record(data.get("error"))
    kind = first(result, "result_type", "resultType")
    given = first(result, "content", "text_result_for_llm", "textResultForLlm") or text(data.get("result"))
    why = text(error.get("message")) or text(data.get("error"))
    if kind in _REFUSED or text(error.get("code")) in _REFUSED:
        yield Rejection(offset, at, call)
    success = data.get("success")
    outcome = _RESULTS.get(kind, ERROR if kind in _REFUSED else UNKNOWN)
    if isinstance(success, bool):
        outcome = OK if success else ERROR
    found = _EXIT.search(given)
    code = int(found[1]) if found else None
    yield Result(offset, at, call, ERROR if code or (why and outcome != OK) else outcome, given or why, code)


def _other(offset: int, at: int | None, kind: str, data: Record) -> Iterator[Item]:
    content = first(data, "content", "message", "text")
    if kind in ("assistant.reasoning", "assistant.thinking"):
        yield Thinking(offset, at, content)
    elif kind in ("system.message", "system.notification"):
        yield Injected(offset, at, content, "instructions" if kind == "system.message" else "reminder")
    elif kind == "skill.invoked":
        yield Injected(offset, at, content, "instructions")
    elif kind == "abort":
        yield Interrupt(offset, at)
    elif kind == "assistant.usage":
        cached = number(data.get("cacheReadTokens"))
        yield Spent(offset, at, number(data.get("inputTokens")), number(data.get("outputTokens")), cached)
    else:
        if kind.startswith("assistant."):
            yield AssistantText(offset, at, content)
        else:
            yield Injected(offset, at, content, "other")
        yield Unknown(offset, at, kind)
