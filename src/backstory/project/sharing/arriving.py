"""Lessons of other projects that reach this one: those whose libraries and versions match what it depends on.

Promise: they are kept in the index alone, never in a file of the project; a project sees no lesson of its own here; and
what is withdrawn in the machine-wide log is gone at the next look, because a look compares the state of that log first.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable

from backstory.config import FOLDER
from backstory.errors import BackstoryError
from backstory.index import build, documents
from backstory.project.currency import lessons_moved, machine_stamp, manifest_stamps
from backstory.project.mapping.tree import foreign, of_folder
from backstory.project.opened import Project
from backstory.project.sharing import machine
from backstory.records.hostile import one_line
from backstory.sources.dependencies.contract import Told
from backstory.sources.dependencies.reading import Dependency, applies, joined, read, reader
from backstory.sources.git.run import git

# Manifests that are read, those nearest to the root first.
MOST_FILES = 200
_ROW = "INSERT OR REPLACE INTO lessons VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

Found = dict[tuple[str, str], Dependency]


def bring_in(project: Project, signature: str = "") -> None:
    """Choose the lessons anew where the machine-wide log, a manifest, or the commit (`signature`) changed.

    Called behind every refresh; where nothing was ever shared it costs one look at a folder.
    """
    if project.config.project == machine.MACHINE:
        return
    db = project.db
    known = dict(db.execute("SELECT key, value FROM index_meta WHERE key IN ('machine', 'manifests', 'walked')"))
    walked = known.get("manifests", "") == "" or known.get("walked", "") == signature
    if walked and not lessons_moved(project.config.places, known):
        return
    stamp = machine_stamp()
    before = {row[0] for row in db.execute("SELECT id FROM lessons")}
    blanked: set[str] = set()
    try:
        others, blanked = _of_others(project) if stamp else ([], set())
    except BackstoryError as error:
        project.notices.append(f"lessons of other projects are left out: {error.message}")
        others = []
    paths = manifests(project) if others else []
    found = joined(item for item in read(project.root, paths) if isinstance(item, Told)) if others else {}
    # The folder itself tells of manifests that are new.
    stamps = manifest_stamps(project.root, ["", *paths]) if others else ""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("DELETE FROM lessons")
        documents.remove_source(db, "lesson")
        for copy in others:
            _keep(project, copy, found)
        for key, value in (("machine", stamp), ("manifests", stamps), ("walked", signature)):
            db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (key, value))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    if before & blanked:
        _wipe(project)


def _wipe(project: Project) -> None:
    """Leave no byte of a redacted text: full-text segments and freed pages keep deleted words otherwise."""
    try:
        project.db.execute("INSERT INTO documents_fts (documents_fts) VALUES ('optimize')")
        build.wipe_freed_pages(project.db)
    except sqlite3.OperationalError as error:
        path = project.config.places.index_path
        project.notices.append(f"the index still holds a redacted lesson ({error}): delete {path}")


def dependencies(project: Project) -> Found:
    """What the project declares that it depends on."""
    return joined(item for item in read(project.root, manifests(project)) if isinstance(item, Told))


def manifests(project: Project) -> list[str]:
    """The paths of files that tell dependencies, tracked or not, what git ignores and what others wrote left out."""
    if project.config.places.git_dir:
        done = git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], project.root, timeout=20.0)
        names: Iterable[str] = (os.fsdecode(name) for name in done.out.split(b"\0") if name)
    else:
        names = of_folder(project.root).files
    found = {
        name for name in names if reader(name) and not foreign(name) and not name.startswith(f"{FOLDER}/")
    }  # fmt: skip
    return sorted(found, key=lambda name: (name.count("/"), name))[:MOST_FILES]


def _of_others(project: Project) -> tuple[list[machine.Copy], set[str]]:
    """What other projects share, and the ids of what was redacted there."""
    with machine.opened(project.now) as log:
        every = [copy for copy in machine.copies(log.db) if copy.origin not in project.projects]
        if log.problem_count():
            project.notices.append("the machine-wide log is damaged; run `backstory global verify`")
    return [copy for copy in every if copy.counts], {copy.id for copy in every if copy.fields.get("redacted")}


def _keep(project: Project, copy: machine.Copy, found: Found) -> None:
    library = next((text for text in map(str, copy.fields.get("libraries", ())) if applies(text, found)), "")
    if not library:
        return
    name, shown = one_line(copy.project, 60), one_line(library, 80)
    project.db.execute(
        _ROW,
        (copy.id, name, shown, copy.at, copy.last_at, copy.stale_at, copy.valid_from, copy.valid_until,
         int(copy.standing == "contested"), copy.line, copy.cost, copy.value_key),
    )  # fmt: skip
    doubt = ", in doubt there" if copy.standing == "contested" else ""
    title = f"{shown}: {one_line(str(copy.fields.get('summary', '')), 300)} (from {name}{doubt})"
    documents.put(project.db, "lesson", copy.id, "lesson", copy.at, title, str(copy.fields.get("detail", "")), [])
