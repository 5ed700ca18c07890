"""How much was recorded, week by week."""

from __future__ import annotations

from typing import NamedTuple

from backstory.project.opened import Project
from backstory.recall import live
from backstory.records.times import DAY, format_instant

WEEK = 7 * DAY


class Week(NamedTuple):
    """Seven days that begin on `day` (ISO 8601), and how many entries were recorded in them."""

    day: str
    recorded: int


def weekly(project: Project, *, weeks: int = 26) -> list[Week]:
    """The last `weeks` weeks, oldest first; the last one ends now."""
    start = project.now - weeks * WEEK
    query = (
        f"SELECT (e.at - :start) / :week, count(*) FROM entries AS e WHERE e.at > :start AND {live.LOGGED} GROUP BY 1"
    )
    found = dict(project.db.execute(query, {"start": start, "week": WEEK}))
    return [Week(format_instant(start + number * WEEK)[:10], int(found.get(number, 0))) for number in range(weeks)]
