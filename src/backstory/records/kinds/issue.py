"""Something that is wrong; it opens a case."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Issue(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A fault or question that is open until a `fix` closes it. Open issues never go stale by age."""

    PROSE: ClassVar[tuple[str, ...]] = ("location",)
    DECAY_DAYS: ClassVar[int | None] = None
    HEADING: ClassVar[str] = "Open issues"

    location: str = ""
