"""A guess at the cause of an issue."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Hypothesis(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody thinks is behind `issue`, not yet shown."""

    DECAY_DAYS: ClassVar[int | None] = 60
    HEADING: ClassVar[str] = "Hypotheses"
