"""`supersede` with text: a new entry of the same kind takes the place of an old one, and takes over what it cites."""

from __future__ import annotations

import os
from typing import Any

from backstory.errors import BackstoryError
from backstory.project.gateway import Outcome, record
from backstory.project.opened import Project
from backstory.project.operations import load
from backstory.project.paths import cite
from backstory.project.resolve import entry_id
from backstory.records.anchors import KNOWN_SHARE
from backstory.records.codec import to_fields
from backstory.records.event import By, FileRef

# What belongs to the subject and not to the words: taken over unless given anew.
_TAKEN_OVER = ("issue", "ticket", "scope", "path", "name", "libraries", "outcome")


def supersede(
    project: Project, by: By, target: str, summary: str, fields: dict[str, Any] | None = None, *, cwd: str = ""
) -> Outcome:
    """Record `summary` in place of the entry that `target` names. `fields` are as for `record`."""
    given = {name: value for name, value in (fields or {}).items() if value not in (None, "", (), [])}
    id_ = entry_id(project.db, target)
    old, _ = load(project, id_)
    known = to_fields(old)
    taken = {name: known[name] for name in _TAKEN_OVER if known.get(name)}
    if not given.get("files"):
        files, base = [_again(project, ref) for ref in old.files], project.root
    else:
        files, base = list(given["files"]), cwd
    also = [str(item) for item in given.get("supersedes", ())]
    given |= {"summary": summary, "supersedes": [id_, *also], "files": files}
    if "path" in taken and "path" not in given:
        taken["path"] = os.path.join(project.root, taken["path"])
    return record(project, by, old.kind, {**taken, **given}, cwd=base)


def _again(project: Project, ref: FileRef) -> str:
    """The place as it is cited anew: the anchor only where it still holds the same text, else the file alone."""
    path = _present(project, ref.path)
    place = f"#{ref.symbol}" if ref.symbol else f":{ref.lines[0]}-{ref.lines[1]}" if ref.lines else ""
    if not place:
        return path
    try:
        now = cite(project.root, path + place)
    except BackstoryError:
        return path
    shared = set(now.prints) & set(ref.prints)
    return path + place if not ref.prints or len(shared) >= KNOWN_SHARE * len(set(ref.prints)) else path


def _present(project: Project, path: str) -> str:
    """The path that the file has now."""
    row = project.db.execute("SELECT path FROM entry_files WHERE cited = ? ORDER BY last_at DESC LIMIT 1", (path,))
    found = row.fetchone()
    return str(found[0]) if found else path
