"""The cases of a project in a list."""

from __future__ import annotations

import msgspec

from backstory.project.answers import checked
from backstory.project.opened import Project
from backstory.recall import live
from backstory.recall.view import View


class CaseLine(msgspec.Struct, frozen=True):
    """A case: its issue, and how many live entries of each kind belong to it."""

    issue: View
    kinds: dict[str, int]


def casebook(project: Project, *, limit: int = 50, offset: int = 0) -> tuple[int, list[CaseLine]]:
    """How many cases there are, and a page of them: open ones first, the newest of each first."""
    where = f"e.kind = 'issue' AND e.standing IN ('active', 'confirmed', 'contested') AND {live.IN_FORCE}"
    where += f" AND {live.LOGGED}"
    now = {"now": project.now}
    total = project.db.execute(f"SELECT count(*) FROM entries AS e WHERE {where}", now).fetchone()[0]
    order = "ORDER BY e.closed, e.last_at DESC, e.id"
    issues = checked(project, f"{where} {order} LIMIT :limit OFFSET :offset", {**now, "limit": limit, "offset": offset})
    query = "SELECT e.kind, count(*) FROM live AS e WHERE e.case_of = :case AND e.case_of <> '' AND e.id <> :case"
    # The index of cases holds those alone that are not "".
    query += f" AND {live.IN_FORCE} GROUP BY 1 ORDER BY 1"
    return int(total), [CaseLine(issue, dict(project.db.execute(query, {**now, "case": issue.id}))) for issue in issues]
