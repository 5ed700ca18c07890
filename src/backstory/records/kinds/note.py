"""Anything else worth a line."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Note(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A remark without fields of its own."""

    DECAY_DAYS: ClassVar[int | None] = 30
    HEADING: ClassVar[str] = "Notes"
