"""`publish`: brings events that are only in the clone's journal into the log of this work tree."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project.gateway import write
from backstory.project.opened import Project
from backstory.project.resolve import entry_id
from backstory.recall.view import View, views
from backstory.records.codec import Fields, read_fields


class Published(msgspec.Struct, frozen=True):
    """The entries that were brought in, and how many events that were (operations on them included)."""

    entries: tuple[View, ...]
    events: int


def not_in_tree(project: Project) -> list[View]:
    """Entries that are only in the journal, newest first."""
    return views(project.db, "e.in_tree = 0 ORDER BY e.at DESC, e.id DESC", {}, project.now)


def publish(project: Project, refs: Sequence[str], *, everything: bool = False) -> Published:
    """Add the named entries, or all, with the operations on them, to this tree. They keep id, time and writer."""
    if project.config.private:
        raise BackstoryError(
            "A private memory has no log to publish to.", hint="It stays in this clone's journal.", code=Exit.REFUSED
        )
    ids = [item.id for item in not_in_tree(project)] if everything else [entry_id(project.db, ref) for ref in refs]
    if not everything:
        _refuse_present(project, ids)
    events = [fields for id_ in ids for fields in _with_operations(project, id_)]
    if events:
        write(project, events)
    marks = ",".join("?" * len(ids))
    return Published(tuple(views(project.db, f"e.id IN ({marks}) ORDER BY e.at, e.id", ids, project.now)), len(events))


def _refuse_present(project: Project, ids: Sequence[str]) -> None:
    for id_ in ids:
        if project.db.execute("SELECT in_tree FROM entries WHERE id = ?", (id_,)).fetchone()[0]:
            raise BackstoryError(
                f"{id_} is in this tree already.", hint="`backstory status` counts what is not.", code=Exit.REFUSED
            )


def _with_operations(project: Project, id_: str) -> list[Fields]:
    rows = project.db.execute(
        "SELECT body FROM events WHERE in_tree = 0 AND (id = ? OR target = ?) ORDER BY at, id", (id_, id_)
    )
    events = []
    for (body,) in rows:
        fields = read_fields(body.encode())
        fields["origin"] = fields.get("origin") or fields.get("shard", "")
        events.append({name: value for name, value in fields.items() if name not in ("h", "prev", "shard")})
    return events
