"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, in all the shapes that it had.

Before 0.44 a line is the item itself and the first one, without a type, the session. Since then a line is `{timestamp,
type, payload}`, and what is said and done stands twice: as what the model got (`response_item`) and as what the person
saw (`event_msg`, in 0.171 as `item_completed`). Which of the two comes first differs; the first gives the item.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from backstory.sources.transcripts.codex_events import event_items
from backstory.sources.transcripts.codex_told import RESPONSE, Told
from backstory.sources.transcripts.codex_tools import arguments, given_by_output
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.fields import Record, first, instant, records, text
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import said as as_text
from backstory.sources.transcripts.lines import Feed, LineReader
from backstory.sources.transcripts.speaking import OURS
from backstory.sources.transcripts.stream import Compaction, Injected, Item, Unknown

CLIENT = "codex"
_SILENT = frozenset(
    "ghost_snapshot compaction compaction_summary context_compaction other additional_tools world_state"
    " token_usage_record inter_agent_communication inter_agent_communication_metadata".split()
)
_CALLS = frozenset(
    "function_call custom_tool_call local_shell_call web_search_call tool_search_call image_generation_call"
    " tool_call".split()
)
_OUTPUTS = frozenset(
    "function_call_output custom_tool_call_output local_shell_call_output tool_search_output mcp_tool_call_output"
    " tool_result function_result".split()
)


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts on this machine, sorted by path."""
    root = env.get("CODEX_HOME") or os.path.join(home, ".codex")
    found: list[str] = []
    for top in ("sessions", "archived_sessions"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.join(folder, name) for name in names if _is_rollout(name)]
    yield from (Found(CLIENT, path) for path in sorted(found))


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and name.endswith(".jsonl")


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of one transcript."""
    reading = _Reading()
    return LineReader(found.path, cursor, reading.restore, reading.save)


class _Reading:
    def __init__(self) -> None:
        self.told = Told(b"")

    def restore(self, state: bytes) -> Feed:
        self.told = Told(state)
        return self.feed

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.told.state)

    def feed(self, offset: int, record: Record) -> Iterator[Item]:
        """The items of a record."""
        at = instant(record.get("timestamp", record.get("created_at")))
        kind, payload = text(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            yield from self._flat(offset, at, kind, record)
        elif kind == "response_item":
            if as_record(record.get("metadata")).get("compaction_output") is True:
                # The summary that `compacted` gives next, not what the agent said to anybody.
                return
            yield from self._response(offset, at, text(payload.get("type")), payload)
        elif kind == "event_msg":
            yield from event_items(self.told, offset, at, payload)
        elif kind == "session_meta":
            yield from self._session(offset, at, payload)
        elif kind == "turn_context":
            yield from self.told.facts(offset, at, cwd=text(payload.get("cwd")), model=text(payload.get("model")))
        elif kind == "compacted":
            yield from self.told.once(Compaction(offset, at, text(payload.get("message"))), RESPONSE)
        elif kind not in _SILENT:
            yield from self.told.unknown(offset, at, kind, payload, RESPONSE)

    def _flat(self, offset: int, at: int | None, kind: str, record: Record) -> Iterator[Item]:
        if kind:
            yield from self._response(offset, at, kind, record)
        elif record.get("role"):
            yield from self.told.message(offset, at, record, RESPONSE)
        elif record.get("id"):
            yield from self._session(offset, at, record)
        elif "record_type" not in record:
            yield Unknown(offset, at, "")

    def _session(self, offset: int, at: int | None, meta: Record) -> Iterator[Item]:
        session, state = text(meta.get("id")), self.told.state
        if known := state.facts.get("session"):
            # A fork begins with the records of the one that it was taken from.
            if session and session != known:
                yield from self.told.facts(offset, at, parent=session)
            return
        git, source = as_record(meta.get("git")), as_record(meta.get("source")).get("subagent")
        spawned = as_record(as_record(source).get("thread_spawn"))
        yield from self.told.facts(
            offset,
            at,
            session=session,
            cwd=text(meta.get("cwd")),
            branch=text(git.get("branch")),
            commit=text(git.get("commit_hash")),
            provider=text(meta.get("model_provider")),
            version=text(meta.get("cli_version")),
            parent=text(spawned.get("parent_thread_id")) or text(meta.get("forked_from_id")),
            agent=first(spawned, "agent_role", "agent_nickname") or text(source),
        )
        if rules := text(meta.get("instructions")):
            yield Injected(offset, at, rules, "hook" if OURS in rules else "instructions")
        state.is_agent = source is not None or meta.get("thread_source") == "subagent"

    def _response(self, offset: int, at: int | None, kind: str, payload: Record) -> Iterator[Item]:
        told = self.told
        if kind == "message":
            yield from told.message(offset, at, payload, RESPONSE)
        elif kind == "reasoning":
            for part in records(payload.get("summary")) or records(payload.get("content")):
                yield from told.thought(offset, at, text(part.get("text")), RESPONSE)
        elif kind in _CALLS:
            tool = text(payload.get("name")) or text(as_record(payload.get("function")).get("name")) or kind
            given = arguments(payload.get("arguments", payload.get("input", payload.get("action"))))
            server = text(payload.get("namespace"))
            yield from told.called(offset, at, first(payload, "call_id", "id"), tool, given, server)
        elif kind in _OUTPUTS:
            given_back = given_by_output(payload.get("output", payload.get("result")))
            yield from told.ended(offset, at, text(payload.get("call_id")), given_back, RESPONSE)
        elif kind == "agent_message":
            if said := as_text(payload.get("content")):
                yield Injected(offset, at, said, "agent")
        elif kind not in _SILENT:
            yield from told.unknown(offset, at, kind, payload, RESPONSE)
