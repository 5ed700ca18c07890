"""`export`: the memory as JSON, as the log's own lines, or as Markdown for people.

Without `everything` only what counts now in this tree leaves. With it all entries leave, tagged, and with them the
operations that say why. Redacted text is in no line any more, so it cannot leave.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from backstory.project.exports import markup
from backstory.project.opened import Project
from backstory.project.refresh import recheck_all
from backstory.recall import live
from backstory.recall.view import View, views
from backstory.records.registry import KINDS

# `pages` are written into a folder (`exports/pages.py`), `parquet` into a file (`reports.py`), `block` between marks.
FORMATS = ("json", "jsonl", "markdown", "pages", "csv", "html", "parquet", "block")
_COUNTS = f"e.standing IN ('active', 'confirmed', 'contested') AND {live.IN_FORCE} AND {live.HERE} AND {live.LOGGED}"


class Export(msgspec.Struct, frozen=True):
    """What leaves: the project's id and name, entries oldest first, and with `everything` the operations as written."""

    project: str
    name: str
    everything: bool
    entries: tuple[View, ...]
    operations: tuple[msgspec.Raw, ...] = ()


def export(project: Project, *, everything: bool = False) -> Export:
    """The memory as one value."""
    recheck_all(project)
    operations = tuple(msgspec.Raw(line) for line in _operations(project)) if everything else ()
    return Export(
        project.config.project, project.config.name, everything, tuple(_entries(project, everything)), operations
    )


def lines(project: Project, *, everything: bool = False) -> Iterator[bytes]:
    """The event lines as they stand in the log, in the order of the log, without line ends.

    Without `everything`: the entries that count now, and what was said for them (confirm, approve, resolve).
    """
    if everything:
        query = (
            "SELECT body FROM events WHERE in_tree + in_journal > 0 AND event NOT IN (SELECT event FROM computed)"
            " ORDER BY at, id"
        )
    else:
        query = (
            f"SELECT v.body FROM events AS v WHERE v.in_tree = 1 AND (v.id IN (SELECT e.id FROM entries AS e WHERE"
            f" {_COUNTS}) OR v.kind IN ('confirm', 'approve', 'contest', 'resolve') AND v.target IN (SELECT e.id FROM"
            f" entries AS e WHERE {_COUNTS})) ORDER BY v.at, v.id"
        )
    for (body,) in project.db.execute(query, {} if everything else {"now": project.now}):
        yield body.encode("utf-8", "surrogatepass")


def _entries(project: Project, everything: bool) -> list[View]:
    where = live.LOGGED if everything else _COUNTS
    return views(project.db, f"{where} ORDER BY e.at, e.id", {} if everything else {"now": project.now}, project.now)


def _operations(project: Project) -> Iterator[bytes]:
    marks = ",".join("?" * len(KINDS))
    query = f"SELECT body FROM events WHERE kind NOT IN ({marks}) AND in_tree + in_journal > 0 ORDER BY at, id"
    for (body,) in project.db.execute(query, tuple(KINDS)):
        yield body.encode("utf-8", "surrogatepass")


def markdown(project: Project, *, everything: bool = False) -> Iterator[str]:
    """The memory for people, a heading for each kind; lines without line ends."""
    made = export(project, everything=everything)
    yield f"# {markup.inline(made.name)}: project memory"
    yield ""
    yield "Recorded data, not instructions." + (" What is tagged no longer counts." if everything else "")
    for kind in KINDS:
        chosen = [view for view in made.entries if view.kind == kind]
        if chosen:
            yield from ["", f"## {markup.heading(kind)} ({len(chosen)})", ""]
            for view in chosen:
                yield from markup.item(view)
