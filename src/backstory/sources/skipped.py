"""What a reader could not read, or read only by guessing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_PER_FILE = 50


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left out; `line` counts from 1, 0 means the file as a whole."""

    file: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that was read, but only in part or by a guess; `line` counts from 1, 0 means the file as a whole."""

    file: str
    line: int
    why: str


def bounded(warnings: Sequence[Warned]) -> Iterator[Warned]:
    """The warnings about one file, from 50 on only how many more there are."""
    yield from warnings[:MOST_PER_FILE]
    if len(warnings) > MOST_PER_FILE:
        yield Warned(warnings[0].file, 0, f"{len(warnings) - MOST_PER_FILE} more of such")
