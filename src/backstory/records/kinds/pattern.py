"""A way of doing things that recurs in this project."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Pattern(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A recurring code pattern, with examples."""

    PROSE: ClassVar[tuple[str, ...]] = ("name", "description", "examples")
    DECAY_DAYS: ClassVar[int | None] = 60
    HEADING: ClassVar[str] = "Active patterns"

    name: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()
