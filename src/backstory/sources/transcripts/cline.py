"""Transcripts of Cline and of its relative Roo.

The extensions: `<editor>/User/globalStorage/<extension>/tasks/<id>/` with `api_conversation_history.json` (the messages
as the model gets them), `ui_messages.json` (what the person saw: times, tokens, stops) and `task_metadata.json`; older
command lines the same under `~/.cline/data/tasks`. Since 3.0 Cline's command line and editors write
`~/.cline/data/sessions/<id>/<id>.messages.json` with `messages`, and `<id>.json` with the session's folder.

No sample was at hand. Known from the sources of Cline and Roo (the words of results, refusals and tags) and, for the
form of 3.0, from public code that reads it. A call stands in the text as `<tool><argument>` or as a part of its own;
its result in the next message, under `[tool for '...'] Result:` or as a part.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping

from backstory.sources.transcripts.calls import called, does_what
from backstory.sources.transcripts.cline_words import OWN, RESULT, TAGS, outcome_of, refused, shown_calls
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import Record, filled, first, instant, number, record, records, said, text
from backstory.sources.transcripts.places import extension_tasks, vscode_users
from backstory.sources.transcripts.stream import (
    ERROR,
    AssistantText,
    Compaction,
    Ended,
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
from backstory.sources.transcripts.whole import Broken, WholeReader, parsed, stamp_of

CLIENT = "cline"
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")
_HISTORY = "api_conversation_history.json"
_MESSAGES = ".messages.json"
# Tools by which the agent says something.
_ALOUD = ("attempt_completion", "ask_followup_question", "plan_mode_respond", "submit_and_exit")
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^()\n]+)\)")
_MODEL = re.compile(r"<model>([^<>\n]+)</model>")
_CODE = re.compile(r"[Ee]xit(?:ed with)? code:? ?(-?\d{1,9})")


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The tasks of the extensions in every editor, then those of the command line."""
    tops = [os.path.join(user, "globalStorage", each) for user in vscode_users(env, home) for each in _EXTENSIONS]
    data = env.get("CLINE_DATA_DIR") or os.path.join(env.get("CLINE_DIR") or os.path.join(home, ".cline"), "data")
    for top in dict.fromkeys([*tops, data, os.path.dirname(data)]):
        folders = _folders(top)
        for task in extension_tasks(top):
            path = os.path.join(task, _HISTORY)
            folder = folders.get(os.path.basename(task), "") or _told_folder(os.path.join(task, "history_item.json"))
            if os.path.exists(path):
                yield Found(CLIENT, path, folders=(folder,) if folder else ())
    sessions = env.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")
    for path in sorted(glob.glob(os.path.join(glob.escape(sessions), "**", "*" + _MESSAGES), recursive=True)):
        folder = _told_folder(_manifest(path))
        yield Found(CLIENT, path, folders=(folder,) if folder else ())


def _folders(top: str) -> dict[str, str]:
    try:
        history = parsed(os.path.join(top, "state", "taskHistory.json"))
    except (OSError, Broken):
        return {}
    return {text(task.get("id")): _folder_in(task) for task in records(history)}


def _told_folder(path: str) -> str:
    try:
        return _folder_in(record(parsed(path)))
    except (OSError, Broken):
        return ""


def _folder_in(fields: Record) -> str:
    return first(fields, "cwd", "workspace", "cwdOnTaskInitialization", "workspace_root", "workspaceRoot")


def _manifest(path: str) -> str:
    return path[: -len(_MESSAGES)] + ".json"


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one task."""
    return WholeReader(cursor, lambda: stamp_of(_paths(found.path)), lambda: _Task(found.path).items())


def _paths(path: str) -> list[str]:
    os.stat(path)
    if path.endswith(_MESSAGES):
        return [path, _manifest(path)]
    return [path, *(os.path.join(os.path.dirname(path), name) for name in ("ui_messages.json", "task_metadata.json"))]


class _Task:
    """One task, read as a whole. `_open` are the calls that wait for a result, in order, with their tools."""

    def __init__(self, path: str) -> None:
        self._lost: list[str] = []
        self._sdk = path.endswith(_MESSAGES)
        found = parsed(path)
        messages = found if isinstance(found, list) else record(found).get("messages")
        if not isinstance(messages, list):
            raise Broken("no messages")
        self._messages = messages
        others = [self._beside(each) for each in _paths(path)[1:]]
        self._about = record(others[0]) if self._sdk else {}
        self._shown = [] if self._sdk else records(others[0])
        self._metadata = {} if self._sdk else record(others[1])
        folder = os.path.dirname(path)
        self._session = os.path.basename(path)[: -len(_MESSAGES)] if self._sdk else os.path.basename(folder)
        self._parent = os.path.basename(folder) if self._sdk and os.path.basename(folder) != self._session else ""
        self._open: list[tuple[str, str]] = []
        self._model = ""

    def _beside(self, path: str) -> object:
        try:
            return parsed(path)
        except FileNotFoundError:
            return None
        except (OSError, Broken) as exc:
            self._lost.append(f"{os.path.basename(path)}: {exc}")
            return None

    def items(self) -> Iterator[Item]:
        """Everything that the task says, then what only the person saw."""
        yield self._facts()
        for why in self._lost:
            yield Lost(0, None, why)
        times = self._times()
        for offset, message in enumerate(self._messages):
            if isinstance(message, dict):
                at = instant(message.get("ts")) or instant(message.get("timestamp")) or times.get(offset)
                yield from filled(self._message(offset, at, message))
            else:
                yield Lost(offset, None, "no object")
        yield from self._seen(len(self._messages))

    def _facts(self) -> Facts:
        used = (records(self._metadata.get("model_usage")) or [{}])[-1]
        host = (records(self._metadata.get("environment_history")) or [{}])[-1]
        self._model = first(used, "model_id") or first(self._about, "model")
        return Facts(
            0,
            instant(self._about.get("started_at")) or instant(self._about.get("startedAt")),
            session=self._session,
            cwd=_folder_in(self._about),
            model=self._model,
            provider=first(used, "model_provider_id") or first(self._about, "provider"),
            version=first(host, "cline_version"),
            parent=self._parent,
            agent="subagent" if self._parent else "",
        )

    def _times(self) -> dict[int, int]:
        """When a message came, by what the person saw first of it."""
        times: dict[int, int] = {}
        for shown in self._shown:
            at, index = instant(shown.get("ts")), shown.get("conversationHistoryIndex")
            if at is not None and isinstance(index, int):
                times.setdefault(index + 1, at)
        return times

    def _message(self, offset: int, at: int | None, message: Record) -> Iterator[Item]:
        role, content = text(message.get("role")), message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else records(content)
        if role == "assistant":
            yield from self._answer(offset, at, message, parts)
        elif message.get("isSummary") is True:
            yield Compaction(offset, at, said(content))
        elif role == "user":
            yield from self._user(offset, at, parts)
        else:
            yield Injected(offset, at, said(content), "other")
            yield Unknown(offset, at, role)

    def _answer(self, offset: int, at: int | None, message: Record, parts: list[Record]) -> Iterator[Item]:
        about = record(message.get("modelInfo"))
        if (model := first(about, "modelId", "id")) and model != self._model:
            self._model = model
            yield Facts(offset, at, model=model, provider=first(about, "providerId", "provider"))
        self._open = []
        yield Thinking(offset, at, text(message.get("reasoning_content")))
        for index, part in enumerate(parts):
            kind, words = text(part.get("type")), first(part, "text", "thinking", "reasoning")
            if kind in ("thinking", "reasoning", "redacted_thinking"):
                yield Thinking(offset, at, words)
            elif kind in ("tool_use", "tool-call"):
                yield from self._call(offset, at, first(part, "id", "call_id"), first(part, "name"), part.get("input"))
            else:
                yield from self._spoken(offset, at, index, words)
                if kind not in ("text", "image", ""):
                    yield Unknown(offset, at, f"assistant/{kind}")
        tokens = record(message.get("metrics"))
        read, written = number(tokens.get("inputTokens")), number(tokens.get("outputTokens"))
        if read or written:
            yield Spent(offset, at, read, written, number(tokens.get("cacheReadTokens")))

    def _spoken(self, offset: int, at: int | None, index: int, words: str) -> Iterator[Item]:
        for number_, (kind, piece, arguments) in enumerate(shown_calls(words)):
            if kind == "text":
                yield AssistantText(offset, at, piece.strip())
            elif kind == "thinking":
                yield Thinking(offset, at, piece.strip())
            else:
                yield from self._call(offset, at, f"{offset}.{index}.{number_}", piece, arguments)

    def _call(self, offset: int, at: int | None, call: str, tool: str, arguments: object) -> Iterator[Item]:
        call = call or f"{offset}.{len(self._open)}"
        self._open.append((call, tool))
        yield from called(offset, at, call, tool, arguments)
        if tool in _ALOUD:
            yield AssistantText(offset, at, first(record(arguments), "result", "question", "response"))

    def _user(self, offset: int, at: int | None, parts: list[Record]) -> Iterator[Item]:
        waiting = ""
        for part in parts:
            kind, words = text(part.get("type")), said(part.get("text"))
            if kind in ("tool_result", "tool-result"):
                told = first(part, "tool_use_id", "call_id")
                yield from self._result(offset, at, told, said(part.get("content")), part.get("is_error"))
            elif header := RESULT.match(words):
                waiting, words = header[1], words[header.end() :].strip()
                if words:
                    yield from self._result(offset, at, self._named(waiting), words, None)
                    waiting = ""
            elif waiting and not words.lstrip().startswith("<environment_details>"):
                yield from self._result(offset, at, self._named(waiting), words, None)
                waiting = ""
            else:
                yield from self._typed(offset, at, words)
                if kind not in ("text", "image", "file", "document", ""):
                    yield Unknown(offset, at, f"user/{kind}")

    def _named(self, tool: str) -> str:
        return next((call for call, name in self._open if name == tool), self._open[0][0] if self._open else "")

    def _typed(self, offset: int, at: int | None, words: str) -> Iterator[Item]:
        if found := _FOLDER.search(words):
            model = _MODEL.search(words)
            yield Facts(offset, at, cwd=found[1].strip(), model=model[1].strip() if model else "")
        # The extensions put tags around all that a person typed; what has none they wrote themselves.
        rest = "agent" if self._parent else "" if self._sdk else "other"
        yield from TAGS.items(offset, at, words, f"{self._session}@{offset}", rest)

    def _result(self, offset: int, at: int | None, call: str, words: str, flag: object) -> Iterator[Item]:
        tool = next((name for key, name in self._open if key == call), "")
        self._open = [pair for pair in self._open if pair[0] != call]
        if (reason := refused(words)) is not None:
            yield Rejection(offset, at, call, reason)
            yield Result(offset, at, call, ERROR, words)
            return
        found = _CODE.search(words[:400]) if does_what(tool) == "shell" else None
        code = int(found[1]) if found else None
        yield Result(offset, at, call, outcome_of(words, flag, code), words, code)
        for answer in OWN.findall(words):
            yield from TAGS.items(offset, at, f"<answer>{answer}</answer>", f"{self._session}@{offset}")

    def _seen(self, offset: int) -> Iterator[Item]:
        for shown in self._shown:
            at, kind = instant(shown.get("ts")), first(shown, "say", "ask")
            if kind == "api_req_started":
                yield from self._request(offset, at, text(shown.get("text")))
        if self._shown and (last := first(self._shown[-1], "ask", "say")) in ("completion_result", "resume_task"):
            ended = "done" if last == "completion_result" else "interrupted"
            yield Ended(offset, instant(self._shown[-1].get("ts")), ended)

    def _request(self, offset: int, at: int | None, words: str) -> Iterator[Item]:
        from backstory.sources.transcripts.whole import from_bytes

        try:
            told = record(from_bytes(words))
        except Broken:
            return
        read, written = number(told.get("tokensIn")), number(told.get("tokensOut"))
        cached = number(told.get("cacheReads"))
        if read or written or cached:
            yield Spent(offset, at, read + cached + number(told.get("cacheWrites")), written, cached)
        if told.get("cancelReason") == "user_cancelled":
            yield Interrupt(offset, at)
