"""What goes stale next: by the clock, by a day that its author named, and by commits to the files that it cites."""

from __future__ import annotations

import msgspec

from backstory.project.answers import checked
from backstory.project.opened import Project
from backstory.recall import live
from backstory.recall.view import View, by_ids
from backstory.records.times import DAY, format_instant

WEEK = 7 * DAY


class Coming(msgspec.Struct, frozen=True):
    """An entry that is fresh, and what will make it stale. `at`: the instant (ISO 8601), "" where commits decide.

    `commits` of `limit` touched a file that it cites without an anchor.
    """

    entry: View
    why: str
    at: str = ""
    commits: int = 0
    limit: int = 0


class Forecast(msgspec.Struct, frozen=True):
    """`weeks[n]`: how many entries the clock makes stale in the week that begins n weeks from now."""

    by_clock: tuple[Coming, ...]
    by_commits: tuple[Coming, ...]
    weeks: tuple[int, ...]


def forecast(project: Project, *, limit: int = 50, weeks: int = 13) -> Forecast:
    """The entries that go stale next, soonest first."""
    now = {"now": project.now}
    # The plus keeps the index of standings out: the one of `stale_at` has what comes next in front.
    fresh = f"+e.standing IN ('active', 'confirmed', 'contested') AND {live.IN_FORCE} AND {live.LOGGED}"
    fresh += f" AND {live.SPEAKS} AND e.moved = '' AND e.stale_at > :now"
    order = f"{fresh} ORDER BY e.stale_at, e.id LIMIT :limit"
    found = checked(project, order, {**now, "limit": limit})
    instants = dict(
        project.db.execute(f"SELECT e.id, e.stale_at FROM entries AS e WHERE {order}", {**now, "limit": limit})
    )
    clock = tuple(Coming(view, _by_clock(view), format_instant(instants[view.id])) for view in found)
    return Forecast(clock, tuple(_by_commits(project, limit)), _weekly(project, fresh, weeks))


def _by_clock(view: View) -> str:
    revisit = str(view.fields.get("revisit_when", ""))[:10]
    return f"not confirmed by then, or to be revisited on {revisit}" if revisit else "not confirmed by then"


def _weekly(project: Project, fresh: str, weeks: int) -> tuple[int, ...]:
    query = (
        f"SELECT (e.stale_at - :now) / :week, count(*) FROM entries AS e WHERE {fresh}"
        " AND e.stale_at < :now + :week * :weeks GROUP BY 1"
    )
    rows = dict(project.db.execute(query, {"now": project.now, "week": WEEK, "weeks": weeks}))
    return tuple(int(rows.get(week, 0)) for week in range(weeks))


def _by_commits(project: Project, limit: int) -> list[Coming]:
    """Entries that cite a whole file which is one commit, or a few, from too many; the nearest first."""
    most = project.config.settings.churn_commits
    query = (
        "SELECT e.id, count(DISTINCT c.sha) AS n FROM entries AS e INDEXED BY entries_recent"
        " JOIN entry_files AS f ON f.entry = e.entry AND f.place = ''"
        " JOIN commit_files AS cf ON cf.path = f.path JOIN commits AS c ON c.sha = cf.sha"
        f" WHERE c.time > e.last_at / 1000000 AND e.kind <> 'hotfile' AND {live.FRESH} AND {live.SPEAKS}"
        f" AND {live.LOGGED} AND e.standing IN ('active', 'confirmed', 'contested') AND {live.IN_FORCE}"
        " GROUP BY e.id HAVING n < :most AND n * 2 >= :most ORDER BY n DESC, e.last_at, e.id LIMIT :limit"
    )
    rows = project.db.execute(query, {"now": project.now, "most": most, "limit": limit}).fetchall()
    items = by_ids(project.db, [row[0] for row in rows], project.now)
    return [
        Coming(items[id_], f"{count} of {most} commits to a file that it cites", commits=count, limit=most)
        for id_, count in rows
    ]
