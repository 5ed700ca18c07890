"""What ended an issue; it closes the case."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Fix(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """The change that closed `issue`. One case is closed once."""

    PROSE: ClassVar[tuple[str, ...]] = ("location",)
    DECAY_DAYS: ClassVar[int | None] = 180
    HEADING: ClassVar[str] = "Fixes"

    location: str = ""
