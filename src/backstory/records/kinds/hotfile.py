"""A file that bites, or that much depends on."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class HotFile(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A fragile or central file: `path` is relative to the project, `summary` says why in one line."""

    PROSE: ClassVar[tuple[str, ...]] = ("why_hot",)
    DECAY_DAYS: ClassVar[int | None] = 30
    HEADING: ClassVar[str] = "Hot files"

    path: str = ""
    why_hot: str = ""
