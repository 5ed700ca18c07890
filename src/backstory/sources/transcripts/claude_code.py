"""Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, sub-agents beside or below it.

A record is one block of a message, mostly. Facts stand in every record; what a user record holds is rarely the user. A
resumed session copies records with their uuids, in its own file or in a new one: here they fold, across files the key
of `UserText` does it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from backstory.sources.transcripts.claude_files import agent_kind, listed
from backstory.sources.transcripts.claude_records import ATTACHMENTS, RECORDS, SYSTEM
from backstory.sources.transcripts.claude_tools import call_items, is_stop, outcome, refusal
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import instant, number, text
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import records as as_records
from backstory.sources.transcripts.fields import said as as_text
from backstory.sources.transcripts.lines import Feed, LineReader, Record
from backstory.sources.transcripts.speaking import OURS, spoken
from backstory.sources.transcripts.stream import (
    AssistantText,
    Compaction,
    Facts,
    Injected,
    Interrupt,
    Item,
    Result,
    Spent,
    Thinking,
    Unknown,
    UserText,
)  # fmt: skip

CLIENT = "claude-code"
# Records whose uuids are remembered: 8 bytes each.
_WINDOW = 100_000
_OPEN_CALLS = 2_000
_ANSWERS = 64
_SILENT_PARTS = frozenset("image document redacted_thinking fallback container_upload tool_reference".split())


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts on this machine, sorted by path."""
    return listed(env, home)


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one transcript."""
    is_agent = os.path.basename(found.path).startswith("agent-")
    reading = _Reading(is_agent, agent_kind(found.path) if is_agent else "")
    return LineReader(found.path, cursor, reading.restore, reading.save)


class _State(msgspec.Struct):
    """What the cursor carries: hashes of uuids seen, facts told, tools of calls without a result, tokens counted."""

    seen: bytes = b""
    facts: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    spent: dict[str, tuple[int, int, int]] = {}
    folded: bool = False
    stopped: bool = False


class _Reading:
    def __init__(self, is_agent: bool, agent: str) -> None:
        self.is_agent, self.agent = is_agent, agent
        self.seen: dict[bytes, None] = {}
        self.state = _State()
        # The facts of the record before as they stand there: most records repeat them.
        self.raw: tuple[object, ...] = ()

    def restore(self, state: bytes) -> Feed:
        try:
            self.state = msgspec.msgpack.decode(state, type=_State) if state else _State()
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.state = _State()
        seen = self.state.seen
        self.seen = {seen[at : at + 8]: None for at in range(0, len(seen) - 7, 8)}
        return self.feed

    def save(self) -> bytes:
        self.state.seen = b"".join(self.seen)
        return msgspec.msgpack.encode(self.state)

    def feed(self, offset: int, record: Record) -> Iterator[Item]:
        """The items of a record. What is remembered changes behind the last, so a stop before it costs nothing."""
        uuid = text(record.get("uuid"))
        mark = blake2b(uuid.encode("utf-8", "replace"), digest_size=8).digest() if uuid else b""
        if mark in self.seen:
            return
        at = instant(record.get("timestamp"))
        yield from self._facts(offset, at, record)
        kind = record.get("type")
        message = as_record(record.get("message"))
        role = kind if kind in ("user", "assistant") else text(message.get("role") or record.get("role"))
        if kind == "attachment":
            yield from _attachment(offset, at, record)
        elif kind == "system":
            yield from self._system(offset, at, record)
        elif isinstance(kind, str) and kind in RECORDS:
            yield from RECORDS[kind](offset, at, record)
        else:
            if kind not in ("user", "assistant") and not (kind is None and message):
                yield Unknown(offset, at, text(kind))
            if role == "user":
                yield from self._user(offset, at, record, message)
            elif role == "assistant":
                yield from self._assistant(offset, at, record, message)
        if mark:
            self.seen[mark] = None
            if len(self.seen) > _WINDOW:
                del self.seen[next(iter(self.seen))]

    def _facts(self, offset: int, at: int | None, record: Record) -> Iterator[Item]:
        get = record.get
        message = get("message")
        # Only answers name a model; what stands between them changes nothing.
        model = (message.get("model") if isinstance(message, dict) else "") or (self.raw[4] if self.raw else "")
        told = (get("sessionId"), get("cwd"), get("gitBranch"), get("version"), model, get("agentId"),
                get("attributionAgent"), get("forkedFrom"))  # fmt: skip
        if told == self.raw:
            return
        self.raw = told
        before = self.state.facts
        now = tuple(_fact(value) for value in told)
        if now[4] == "<synthetic>":
            now = (*now[:4], "", *now[5:])
        if before:
            now = tuple(new or old for new, old in zip(now, before, strict=True))
        if now == before or not any(now):
            return
        changed = [new if not before or new != before[at] else "" for at, new in enumerate(now)]
        session, cwd, branch, version, name, agent, kind, fork = changed
        if self.is_agent:
            # The records of a sub-agent carry its parent's session.
            session, fork = agent and f"agent-{agent}", session
            kind = kind or (self.agent if not before else "")
        else:
            kind = ""
        told_now = Facts(offset, at, session, cwd, branch, "", name, "", version, fork, kind)
        if any(getattr(told_now, field) for field in Facts.__struct_fields__[2:]):
            yield told_now
        self.state.facts = now

    def _system(self, offset: int, at: int | None, record: Record) -> Iterator[Item]:
        kind = text(record.get("subtype"))
        if kind == "compact_boundary":
            yield Compaction(offset, at)
            self.state.folded = True
        elif kind in SYSTEM:
            said = as_text(record.get("content")) or as_text(record.get("hookAdditionalContext"))
            if said and SYSTEM[kind]:
                yield Injected(offset, at, said, "hook" if OURS in said else SYSTEM[kind])
        else:
            yield Unknown(offset, at, f"system/{kind}")

    def _user(self, offset: int, at: int | None, record: Record, message: Record) -> Iterator[Item]:
        content = message.get("content", record.get("content", record.get("text")))
        if record.get("isCompactSummary") is True:
            yield self._summary(offset, at, as_text(content))
            return
        blocks: list[Any] = content if isinstance(content, list) else [content]
        for block in blocks:
            if isinstance(block, str):
                yield from self._said(offset, at, record, block)
            elif isinstance(block, dict):
                kind = block.get("type")
                if kind == "tool_result":
                    yield from self._result(offset, at, record, block)
                elif kind == "text" or kind is None:
                    yield from self._said(offset, at, record, text(block.get("text")))
                elif kind not in _SILENT_PARTS:
                    yield Unknown(offset, at, f"user/{text(kind)}")
                    yield from self._said(offset, at, record, text(block.get("text")))

    def _summary(self, offset: int, at: int | None, said: str) -> Item:
        # The boundary before it was the compaction already.
        before, self.state.folded = self.state.folded, False
        return Injected(offset, at, said, "summary") if before else Compaction(offset, at, said)

    def _said(self, offset: int, at: int | None, record: Record, said: str) -> Iterator[Item]:
        if not said.strip():
            return
        if is_stop(said):
            if not self.state.stopped:
                yield Interrupt(offset, at)
            self.state.stopped = False
            return
        by_agent = self.is_agent or record.get("isSidechain") is True
        nobody = record.get("isMeta") is True or record.get("isVisibleInTranscriptOnly") is True
        # What a person typed has an id, in every version; a record of a new type without one repeats it.
        nobody = nobody or (record.get("type") not in ("user", None) and not record.get("uuid"))
        kind = as_record(record.get("origin")).get("kind")
        sent = isinstance(kind, str) and kind in ("task-notification", "peer", "coordinator", "channel")
        for item in spoken(offset, at, said, text(record.get("uuid"))):
            if isinstance(item, UserText) and (by_agent or nobody or sent):
                yield Injected(offset, at, item.text, "agent" if by_agent or sent else "other")
            else:
                yield item

    def _result(self, offset: int, at: int | None, record: Record, block: Record) -> Iterator[Item]:
        call, said, more = text(block.get("tool_use_id")), as_text(block.get("content")), record.get("toolUseResult")
        how, number = outcome(self.state.tools.get(call, ""), block.get("is_error"), said, more)
        if is_stop(said):
            # The client says so again in a record of its own.
            yield Interrupt(offset, at, call)
            self.state.stopped = True
        elif rejected := refusal(offset, at, call, said, record):
            yield rejected
        yield Result(offset, at, call, how, said, number)
        self.state.tools.pop(call, None)

    def _assistant(self, offset: int, at: int | None, record: Record, message: Record) -> Iterator[Item]:
        self.state.stopped = False
        content = message.get("content", record.get("content", record.get("text")))
        by_client = record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in as_records(content):
            kind, said = block.get("type"), text(block.get("text"))
            if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
                yield from call_items(offset, at, block)
                self._remember(text(block.get("id")), text(block.get("name")))
            elif kind == "thinking":
                if thought := text(block.get("thinking")):
                    yield Thinking(offset, at, thought)
            elif isinstance(kind, str) and kind.endswith("_tool_result"):
                yield Result(offset, at, text(block.get("tool_use_id")), "unknown", as_text(block.get("content")))
            else:
                if kind != "text" and kind not in _SILENT_PARTS:
                    yield Unknown(offset, at, f"assistant/{text(kind)}")
                if said.strip():
                    nobody = by_client or OURS in said
                    origin = "hook" if OURS in said else "other"
                    yield Injected(offset, at, said, origin) if nobody else AssistantText(offset, at, said)
        yield from self._spent(offset, at, message)

    def _remember(self, call: str, tool: str) -> None:
        self.state.tools[call] = tool
        if len(self.state.tools) > _OPEN_CALLS:
            del self.state.tools[next(iter(self.state.tools))]

    def _spent(self, offset: int, at: int | None, message: Record) -> Iterator[Item]:
        """What an answer cost, once: each of its records repeats it, and the last knows best how much was written."""
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        cached = number(usage.get("cache_read_input_tokens"))
        read = number(usage.get("input_tokens")) + number(usage.get("cache_creation_input_tokens")) + cached
        now = (read, number(usage.get("output_tokens")), cached)
        answer, spent = text(message.get("id")), self.state.spent
        before = spent.get(answer, (0, 0, 0)) if answer else (0, 0, 0)
        more = [max(new - old, 0) for new, old in zip(now, before, strict=True)]
        if any(more):
            yield Spent(offset, at, more[0], more[1], more[2])
        if answer:
            spent[answer] = (max(now[0], before[0]), max(now[1], before[1]), max(now[2], before[2]))
            if len(spent) > _ANSWERS:
                del spent[next(iter(spent))]


def _fact(value: object) -> str:
    return value if isinstance(value, str) else text(as_record(value).get("sessionId"))


def _attachment(offset: int, at: int | None, record: Record) -> Iterator[Item]:
    attached = as_record(record.get("attachment"))
    kind = text(attached.get("type"))
    if kind == "queued_command":
        # What a person typed while the agent was at work.
        said, by_person = as_text(attached.get("prompt")), attached.get("commandMode") in ("prompt", None)
        for item in spoken(offset, at, said, text(record.get("uuid"))):
            told = isinstance(item, UserText) and not (by_person and record.get("isSidechain") is not True)
            yield Injected(offset, at, said, "agent") if told else item
    elif kind not in ATTACHMENTS:
        yield Unknown(offset, at, f"attachment/{kind}")
    elif ATTACHMENTS[kind]:
        said = next((found for name in ("content", "stdout", "blockingError", "snippet", "text", "prompt")
                     if (found := _flat(attached.get(name)).strip())), "")  # fmt: skip
        if said:
            yield Injected(offset, at, said, "hook" if OURS in said else ATTACHMENTS[kind])


def _flat(value: object) -> str:
    inner = as_record(value)
    return text(inner.get("content")) or text(inner.get("blockingError")) or as_text(value)
