"""The gate: decisions that cite a file of the change still point at something that is there.

A change that moves the ground from under a decision is not forbidden; the decision is confirmed, superseded or
retired in the same change.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from backstory.project.opened import Project
from backstory.project.refresh import recheck
from backstory.recall.view import View, by_ids

_KINDS = ("decision", "pattern")
# Reasons of staleness that are about the cited place itself; age and churn are no fault of the change.
_BROKEN = ("anchor:", "gone:")
_CHUNK = 400


class BrokenAnchor(msgspec.Struct, frozen=True):
    """A live decision or pattern whose cited place is gone; `files` are those of the change that it cites."""

    id: str
    short: str
    kind: str
    summary: str
    files: tuple[str, ...]
    why: str


def broken_anchors(project: Project, files: Iterable[str]) -> tuple[BrokenAnchor, ...]:
    """What no longer holds among the anchors into `files` (relative to the project, old names too), by id.

    What says of itself that it waits, or is rejected, retired or superseded, is not looked at.
    """
    citing = _citing(project, sorted(set(files)))
    recheck(project, sorted(citing))
    # Judging again follows a renamed file, so who cites what is asked for a second time.
    citing |= {id_: citing[id_] | more for id_, more in _citing(project, sorted(set(files))).items() if id_ in citing}
    found = by_ids(project.db, sorted(citing), project.now)
    broken = [(view, why) for view in found.values() if (why := _why(view))]
    return tuple(
        BrokenAnchor(view.id, view.short, view.kind, view.summary, tuple(sorted(citing[view.id])), why)
        for view, why in broken
    )


def _citing(project: Project, files: list[str]) -> dict[str, set[str]]:
    """The live entries that cite one of `files`, under its name now or the one that they cited, and which."""
    found: dict[str, set[str]] = {}
    kinds = ",".join("?" * len(_KINDS))
    for start in range(0, len(files), _CHUNK):
        part = files[start : start + _CHUNK]
        marks = ",".join("?" * len(part))
        for column in ("path", "cited"):
            rows = project.db.execute(
                f"SELECT l.id, f.{column} FROM entry_files AS f JOIN entries AS e ON e.entry = f.entry"
                f" JOIN live AS l ON l.id = e.id WHERE f.{column} IN ({marks}) AND l.kind IN ({kinds})",
                [*part, *_KINDS],
            )
            for id_, path in rows:
                found.setdefault(str(id_), set()).add(str(path))
    return found


def _why(view: View) -> str:
    if not view.live or not view.in_tree:
        return ""
    return "; ".join(reason for reason in view.stale_reasons if reason.startswith(_BROKEN))
