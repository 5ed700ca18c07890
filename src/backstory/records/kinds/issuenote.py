"""An observation about an open issue."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class IssueNote(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """What was seen while working on `issue` (an issue of this log, or a number elsewhere such as `#717`)."""

    PROSE: ClassVar[tuple[str, ...]] = ("observation",)
    DECAY_DAYS: ClassVar[int | None] = 14
    HEADING: ClassVar[str] = "Issue notes"

    observation: str = ""
