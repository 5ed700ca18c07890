"""Texts in which clients put tags around what a person typed, and around what they add to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import Injected, Item


class Tags:
    """`own` are the tags around a person's words, `put` those around what the client added, with its origin."""

    def __init__(self, own: tuple[str, ...], put: Mapping[str, str]) -> None:
        self._own, self._put = frozenset(own), put
        self._tag = re.compile(rf"<({'|'.join(map(re.escape, [*own, *put]))})(?: [^<>]*)?>")

    def items(self, offset: int, at: int | None, said: str, key: str, rest: str = "") -> Iterator[Item]:
        """The parts of a text. `rest` is the origin of what stands in no tag, "" when it is the person's too.

        Where a person's tag is found, whatever stands outside of it is not theirs.
        """
        parts = list(self._parts(said))
        if not rest and any(tag in self._own for tag, _ in parts):
            rest = "other"
        for tag, part in parts:
            if not part.strip():
                continue
            if tag in self._own or not (tag or rest):
                yield from spoken(offset, at, part.strip(), key)
            else:
                yield Injected(offset, at, part.strip(), self._put.get(tag, rest))

    def _parts(self, said: str) -> Iterator[tuple[str, str]]:
        at = 0
        while found := self._tag.search(said, at):
            yield "", said[at : found.start()]
            close = f"</{found[1]}>"
            end = said.find(close, found.end())
            # A tag that is never closed was cut off: all behind it is its own.
            yield found[1], said[found.end() : end if end >= 0 else len(said)]
            at = end + len(close) if end >= 0 else len(said)
        yield "", said[at:]
