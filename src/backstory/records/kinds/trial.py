"""Something that was tried, and how it ended. `attempt` is accepted as another name on every surface."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry

OUTCOMES = ("failed", "partial", "worked")


class Trial(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """What was tried: `outcome` is failed, partial or worked."""

    PROSE: ClassVar[tuple[str, ...]] = ("failure_mode", "command")
    DECAY_DAYS: ClassVar[int | None] = 180
    HEADING: ClassVar[str] = "Failed trials"

    outcome: str = "failed"
    failure_mode: str = ""
    command: str = ""
