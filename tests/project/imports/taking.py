"""An import as a person runs it: the path decides what it is, unless a source is named."""

from pathlib import Path

from backstory.project.imports.running import TakenIn, source_of, take_in
from backstory.project.opened import Project
from backstory.records.event import By


def taken(memory: Project, path: Path, name: str = "", *, dry_run: bool = False, by: By | None = None) -> TakenIn:
    found = source_of(str(path), name)
    assert found is not None
    return take_in(memory, found[1], found[0], dry_run=dry_run, by=by)
