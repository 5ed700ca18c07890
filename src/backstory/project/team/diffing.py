"""What a branch adds to the memory, confirms in it and withdraws from it.

Only what the branch itself says counts: an event that the base has and the branch does not is the base's news.
"""

from __future__ import annotations

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project.opened import Project
from backstory.project.team.revisions import commit_of, memory_at
from backstory.recall.view import View, views
from backstory.records.codec import read_fields
from backstory.records.hostile import one_line
from backstory.records.registry import KINDS

_WITHDRAWN = ("superseded", "retired", "rejected")
ADDED, CONFIRMED, WITHDRAWN, DOUBTED, RETURNED = "added", "confirmed", "withdrawn", "put in doubt", "brought back"


class MemoryChange(msgspec.Struct, frozen=True):
    """One entry that a branch changes: its standing before ("" for one that was not there), and now.

    `by` and `why` are those of the operation that did it; `tags` say what else has to be said of it.
    """

    what: str
    id: str
    short: str
    kind: str
    summary: str
    was: str
    standing: str
    by: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()


class MemoryDiff(msgspec.Struct, frozen=True):
    """What changes between two commits; `events` counts the lines that are new."""

    base: str
    head: str
    changes: tuple[MemoryChange, ...]
    events: int
    unseen: int


def diff(project: Project, base: str, head: str) -> MemoryDiff:
    """What `head` (a commit's name; "" for the work tree) says that `base` does not."""
    base_id = commit_of(project, base)
    head_id = commit_of(project, head) if head else ""
    with memory_at(project, base_id) as old:
        before = _standings(old)
        known = {id_ for (id_,) in old.db.execute("SELECT id FROM events")}
    if not head:
        return _made(project, base_id, "", before, known)
    with memory_at(project, head_id) as new:
        return _made(new, base_id, head_id, before, known)


def _made(new: Project, base: str, head: str, before: dict[str, str], known: set[str]) -> MemoryDiff:
    rows = new.db.execute("SELECT id, kind, target, body FROM events WHERE in_tree = 1 ORDER BY at, id").fetchall()
    fresh = [row for row in rows if row[0] not in known]
    touched = {row[0] for row in fresh if row[1] in KINDS} | {row[2] for row in fresh if row[2]}
    for _, _, _, body in fresh:
        touched.update(map(str, read_fields(body.encode("utf-8", "surrogatepass")).get("supersedes", ())))
    last = {row[2]: read_fields(row[3].encode("utf-8", "surrogatepass")) for row in fresh if row[2]}
    found = []
    for id_ in sorted(touched):
        for view in views(new.db, "e.id = ? AND e.source = 'log'", (id_,), new.now):
            change = _change(view, before.get(id_, ""), last.get(id_, {}))
            found += [change] if change is not None else []
    order = (ADDED, CONFIRMED, RETURNED, DOUBTED, WITHDRAWN)
    found.sort(key=lambda one: (order.index(one.what), one.id))
    return MemoryDiff(base, head, tuple(found), len(fresh), len(known - {row[0] for row in rows}))


def _change(view: View, was: str, operation: dict[str, object]) -> MemoryChange | None:
    now, gone = view.standing, view.standing in _WITHDRAWN
    if not was:
        # What a branch both says and takes back again is no news to anybody.
        what = "" if gone else ADDED
    elif gone:
        what = WITHDRAWN if was not in _WITHDRAWN else ""
    elif was in _WITHDRAWN:
        what = RETURNED
    elif now == "contested":
        what = DOUBTED if was != now else ""
    else:
        what = CONFIRMED if operation.get("kind") in ("confirm", "approve", "resolve") else ""
    if not what:
        return None
    by = operation.get("by") if isinstance(operation.get("by"), dict) else view.by
    why = str(operation.get("reason", "")) or str(view.ended.get("reason", ""))
    assert isinstance(by, dict)
    return MemoryChange(
        what=what, id=view.id, short=view.short, kind=view.kind, summary=view.summary, was=was, standing=now,
        by=one_line(" ".join(filter(None, (str(by.get("name", "")), f"({by.get('kind', '')})"))), 120),
        why=one_line(why, 300), tags=tuple(tag for tag in view.tags if not tag.startswith("stale")),
    )  # fmt: skip


def _standings(project: Project) -> dict[str, str]:
    return dict(project.db.execute("SELECT id, standing FROM entries WHERE source = 'log'").fetchall())


def main_branch(project: Project) -> str:
    """The branch that others start from: the remote's, or main or master here."""
    for name in ("origin/HEAD", "origin/main", "origin/master", "main", "master"):
        try:
            commit_of(project, name)
        except BackstoryError:
            continue
        return name
    raise BackstoryError(
        "Which commit is the base? There is no main branch here.",
        hint="Name it: `backstory diff BASE..HEAD`.",
        code=Exit.USAGE,
    )
