"""Which files bite: what is recorded about each, how much of it failed or went stale, and how often it changed."""

from __future__ import annotations

import msgspec

from backstory.project.opened import Project
from backstory.recall import live


class FileHeat(msgspec.Struct, frozen=True):
    """A file that live entries cite.

    `entries`: how many; of them `failed` are trials that failed, `hot` mark it as hot, `stale` have lost their ground.
    `commits` touched it since the oldest commit that any entry cites.
    """

    path: str
    entries: int
    failed: int
    hot: int
    stale: int
    commits: int

    @property
    def heat(self) -> int:
        """What the order goes by: a failed trial or a mark weighs more than a remark, many commits a little."""
        return self.entries + 2 * self.failed + 2 * self.hot + min(self.commits, 10)


def heat(project: Project, *, limit: int = 200) -> tuple[int, list[FileHeat]]:
    """How many files live entries cite, and the hottest of them."""
    query = (
        "SELECT f.path, count(DISTINCT e.entry), count(DISTINCT CASE WHEN e.kind = 'trial' AND e.outcome <> 'worked'"
        " THEN e.entry END), count(DISTINCT CASE WHEN e.kind = 'hotfile' THEN e.entry END),"
        f" count(DISTINCT CASE WHEN {live.STALE} THEN e.entry END) FROM live AS e JOIN entry_files AS f USING (entry)"
        f" WHERE {live.IN_FORCE} AND {live.LOGGED} GROUP BY f.path"
    )
    rows = project.db.execute(query, {"now": project.now}).fetchall()
    commits = dict(project.db.execute("SELECT path, count(DISTINCT sha) FROM commit_files GROUP BY path"))
    found = [
        FileHeat(path, entries, failed, hot, stale, commits.get(path, 0)) for path, entries, failed, hot, stale in rows
    ]
    found.sort(key=lambda item: (-item.heat, item.path))
    return len(found), found[:limit]
