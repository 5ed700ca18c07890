"""A choice, with its reason and what was turned down."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Decision(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided and why."""

    PROSE: ClassVar[tuple[str, ...]] = ("rationale", "alternatives_rejected")
    DECAY_DAYS: ClassVar[int | None] = 90
    HEADING: ClassVar[str] = "Recent decisions"

    rationale: str = ""
    alternatives_rejected: tuple[str, ...] = ()
