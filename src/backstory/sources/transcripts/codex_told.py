"""What Codex tells twice, told once: texts, calls and their ends, and the facts that hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from backstory.sources.transcripts.codex_tools import Given, call_items
from backstory.sources.transcripts.fields import Record, text
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import said as as_text
from backstory.sources.transcripts.speaking import OURS, spoken
from backstory.sources.transcripts.stream import (
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
    UserText,
)

# Who tells: what the model got, what the person saw, and what the person saw since 0.171.
RESPONSE, EVENT, ITEM = 1, 2, 4
_TOLD = 512
_CALLS = 2_000
_CWD = re.compile(r"<cwd>([^<\n]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")


class State(msgspec.Struct):
    """What a cursor carries: texts told and by whom, calls told and whether their end was, facts, tokens."""

    told: dict[str, int] = {}
    calls: dict[str, bool] = {}
    facts: dict[str, str] = {}
    spent: tuple[int, int, int] = (0, 0, 0)
    is_agent: bool = False


class Told:
    """Gives the items that were not given yet, and remembers them."""

    def __init__(self, state: bytes) -> None:
        try:
            self.state = msgspec.msgpack.decode(state, type=State) if state else State()
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.state = State()

    def facts(self, offset: int, at: int | None, **told: str) -> Iterator[Item]:
        """Those that are new."""
        new = {name: value for name, value in told.items() if value and self.state.facts.get(name) != value}
        if new:
            yield Facts(offset, at, **new)
            self.state.facts.update(new)

    def once(
        self, item: UserText | AssistantText | Thinking | Injected | Compaction | Interrupt, source: int
    ) -> Iterator[Item]:
        """The item, unless another source told it; what the same source tells again has happened again."""
        said = "" if isinstance(item, Compaction | Interrupt) else item.text.strip()
        name = type(item).__name__ + blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()
        told = self.state.told
        before = told.get(name, 0)
        if before and not before & source:
            told[name] = before | source
            return
        yield item
        told.pop(name, None)
        told[name] = source
        if len(told) > _TOLD:
            del told[next(iter(told))]

    def user(self, offset: int, at: int | None, said: str, key: str, source: int, by: Record) -> Iterator[Item]:
        """A text in the user's place; `by` is what the client says of where it came from."""
        for item in spoken(offset, at, said, key):
            if isinstance(item, Injected):
                yield from self._folder(offset, at, item.text)
                yield from self.once(item, source)
            elif self.state.is_agent:
                yield from self.once(Injected(offset, at, item.text, "agent"), source)
            elif by.get("type") in ("harness", "skills"):
                origin = "hook" if by.get("hook") is True else "other"
                yield from self.once(Injected(offset, at, item.text, origin), source)
            else:
                yield from self.once(item, source)

    def _folder(self, offset: int, at: int | None, said: str) -> Iterator[Item]:
        """The format without payloads has the folder in the environment's text only."""
        found = None if self.state.facts.get("cwd") else _CWD.search(said[:8_192])
        if found:
            yield from self.facts(offset, at, cwd=(found[1] or found[2]).strip())

    def answer(self, offset: int, at: int | None, said: str, source: int) -> Iterator[Item]:
        """What the agent said."""
        if OURS in said:
            yield from self.once(Injected(offset, at, said, "hook"), source)
        elif said.strip():
            yield from self.once(AssistantText(offset, at, said), source)

    def thought(self, offset: int, at: int | None, said: str, source: int) -> Iterator[Item]:
        """What it thought."""
        if said.strip():
            yield from self.once(Thinking(offset, at, said), source)

    def message(self, offset: int, at: int | None, payload: Record, source: int) -> Iterator[Item]:
        """The texts of a message, by its role; of a message without one, nothing."""
        role, content = payload.get("role"), payload.get("content", payload.get("message", payload.get("text")))
        marks = as_record(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_metadata")
        for place, part in enumerate(content if isinstance(content, list) else [content]):
            said = part if isinstance(part, str) else text(as_record(part).get("text"))
            if not said.strip():
                continue
            mark = marks[place] if isinstance(marks, list) and place < len(marks) else None
            by = as_record(as_record(mark).get("provenance"))
            if role == "assistant":
                yield from self.answer(offset, at, said, source)
            elif role == "user":
                yield from self.user(offset, at, said, text(payload.get("id")), source, by)
            elif role in ("developer", "system"):
                origin = "hook" if OURS in said or by.get("hook") is True else "instructions"
                yield Injected(offset, at, said, origin)

    def called(
        self, offset: int, at: int | None, call: str, tool: str, given: Record, server: str = "", changes: object = None
    ) -> Iterator[Item]:
        """A call that was not told yet."""
        if call and call in self.state.calls:
            return
        yield from call_items(offset, at, call, tool, given, server, changes)
        if call:
            self.state.calls[call] = False
            if len(self.state.calls) > _CALLS:
                del self.state.calls[next(iter(self.state.calls))]

    def ended(self, offset: int, at: int | None, call: str, given: Given, source: int) -> Iterator[Item]:
        """How a call ended, once; of a command that still ran when its output came, once more when it is known."""
        if self.state.calls.get(call):
            return
        if given.refused:
            yield Rejection(offset, at, call)
        elif given.stopped:
            yield from self.once(Interrupt(offset, at, call), source)
        yield Result(offset, at, call, given.outcome, given.text, given.code)
        if call in self.state.calls:
            self.state.calls[call] = given.outcome != UNKNOWN

    def spent(self, offset: int, at: int | None, now: tuple[int, int, int]) -> Iterator[Item]:
        """The session's tokens so far: read (those from a cache among them), written, from a cache."""
        if any(now) and now != self.state.spent:
            yield Spent(offset, at, now[0], now[1], now[2], total=True)
            self.state.spent = now

    def unknown(self, offset: int, at: int | None, kind: str, payload: Record, source: int) -> Iterator[Item]:
        """A type that is not known; a text comes out where its role says whose it is."""
        yield Unknown(offset, at, kind)
        if payload.get("role") in ("user", "assistant"):
            found = {
                **payload,
                "content": as_text(payload.get("content")) or payload.get("message") or payload.get("text"),
            }
            yield from self.message(offset, at, found, source)
