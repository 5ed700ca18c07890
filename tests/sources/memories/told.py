"""What a reader gave, apart: items, what was skipped, what was read with a doubt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from backstory.sources.memories.item import Item
from backstory.sources.skipped import Skipped, Warned


class Told(NamedTuple):
    items: list[Item]
    skipped: list[Skipped]
    warned: list[Warned]

    def item(self, summary: str) -> Item:
        return next(item for item in self.items if item.fields["summary"] == summary)

    def kinds(self) -> dict[str, int]:
        names = sorted(item.kind for item in self.items)
        return {name: names.count(name) for name in dict.fromkeys(names)}


def told(read: Iterable[Item | Skipped | Warned]) -> Told:
    found = list(read)
    return Told(
        [one for one in found if isinstance(one, Item)],
        [one for one in found if isinstance(one, Skipped)],
        [one for one in found if isinstance(one, Warned)],
    )


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
