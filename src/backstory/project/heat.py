"""Which files bite: what is known about each, how much of it failed, was backed out or went stale, and its changes."""

from __future__ import annotations

import msgspec

from backstory.project.opened import Project
from backstory.recall import live


class FileHeat(msgspec.Struct, frozen=True):
    """A file that live entries cite, or that a commit touched which was backed out.

    `entries`: how many; of them `failed` are trials that failed, `hot` mark it as hot, `stale` have lost their ground.
    `backed_out` commits are read from git, and no entries. `commits` touched it since the oldest commit that any entry
    of the log cites.
    """

    path: str
    entries: int
    failed: int
    hot: int
    stale: int
    backed_out: int
    commits: int

    @property
    def heat(self) -> int:
        """What the order goes by: a failed trial or a mark weighs more than a remark, many commits a little."""
        return self.entries + 2 * self.failed + 2 * self.hot + self.backed_out + min(self.commits, 10)


def heat(project: Project, *, limit: int = 200) -> tuple[int, list[FileHeat]]:
    """How many files there are of which something is known, and the hottest of them."""
    conditions = (
        "e.source <> 'git'",
        f"{live.LOGGED} AND e.kind = 'trial' AND e.outcome <> 'worked'",
        "e.kind = 'hotfile'",
        f"{live.LOGGED} AND {live.STALE}",
        "e.source = 'git'",
    )
    # An entry may cite several places of a file.
    counts = ", ".join(f"count(DISTINCT CASE WHEN {condition} THEN e.entry END)" for condition in conditions)
    query = (
        f"SELECT f.path, {counts} FROM live AS e JOIN entry_files AS f USING (entry)"
        f" WHERE {live.IN_FORCE} GROUP BY f.path"
    )
    rows = project.db.execute(query, {"now": project.now}).fetchall()
    commits = dict(project.db.execute("SELECT path, count(DISTINCT sha) FROM commit_files GROUP BY path"))
    found = [
        FileHeat(path, entries, failed, hot, stale, backed_out, commits.get(path, 0))
        for path, entries, failed, hot, stale, backed_out in rows
    ]
    found.sort(key=lambda item: (-item.heat, item.path))
    return len(found), found[:limit]
