"""The memories of other tools that are read, and which of them a path is."""

from __future__ import annotations

from types import ModuleType

from backstory.sources.memories import beads, notes, projectmem, rules, table

READERS: dict[str, ModuleType] = {module.NAME: module for module in (projectmem, beads, rules, notes, table)}


def found(path: str) -> dict[str, str]:
    """The readers that know `path`, each with what it would read."""
    return {name: place for name, module in READERS.items() if (place := module.takes(path))}
