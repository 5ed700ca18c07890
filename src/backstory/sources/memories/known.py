"""The memories of other tools that are read, and which of them a path is."""

from __future__ import annotations

from types import ModuleType

from backstory.sources.memories import agentlore, backlog, beads, notes, projectmem, records, rules, table

_MODULES = (projectmem, beads, backlog, records, agentlore, rules, notes, table)
READERS: dict[str, ModuleType] = {module.NAME: module for module in _MODULES}


def found(path: str) -> dict[str, str]:
    """The readers that know `path`, each with what it would read."""
    return {name: place for name, module in READERS.items() if (place := module.takes(path))}
