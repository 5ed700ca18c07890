"""What holds for a library, not only for this project."""

from __future__ import annotations

from typing import ClassVar

from backstory.records.event import Entry


class Lesson(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A lesson about `libraries`, each a name with an optional version range (`pydantic@>=2`)."""

    PROSE: ClassVar[tuple[str, ...]] = ("libraries",)
    DECAY_DAYS: ClassVar[int | None] = 180
    HEADING: ClassVar[str] = "Lessons"

    libraries: tuple[str, ...] = ()
