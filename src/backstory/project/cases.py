"""Which cases are open: live issues that no live fix closes."""

from __future__ import annotations

from backstory.project.answers import View
from backstory.project.opened import Project
from backstory.project.refresh import recheck
from backstory.recall import live
from backstory.recall.view import views

_OPEN = (
    "e.kind = 'issue' AND e.standing IN ('active', 'confirmed', 'contested') AND e.closed = 0"
    f" AND {live.LOGGED} AND {live.IN_FORCE}"
)


def open_cases(project: Project, limit: int, *, session: str = "") -> list[View]:
    """The newest open issues, at most `limit`; with `session` those alone that it recorded."""
    params: dict[str, object] = {"now": project.now, "limit": limit, "session": session}
    mine = " AND e.session = :session" if session else ""
    # The rows are chosen by index alone, as for `answers.get`.
    order = "ORDER BY e.last_at DESC, e.id LIMIT :limit"
    chosen = f"SELECT e.entry FROM entries AS e INDEXED BY entries_live WHERE {_OPEN}{mine} {order}"
    found = views(project.db, f"e.entry IN ({chosen}) {order}", params, project.now)
    if recheck(project, [item.id for item in found]):
        found = views(project.db, f"e.entry IN ({chosen}) {order}", params, project.now)
    return found


def count_open_cases(project: Project) -> int:
    """How many issues are open."""
    row = project.db.execute(f"SELECT count(*) FROM entries AS e WHERE {_OPEN}", {"now": project.now}).fetchone()
    return int(row[0])
