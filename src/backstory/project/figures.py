"""Counts that a hook reads instead of counting: fresh entries by kind, contested and stale ones.

Kept in `index_meta` with the span of time in which they hold. A refresh of a few entries adds the difference that they
make; counting everything at each append would cost more the larger the log is.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection

from backstory.recall import live

FAR = 1 << 62
# Above this many entries at once, counting everything is cheaper than counting them twice.
MOST = 2_000
_CHUNK = 400

_FRESH = f"{live.conditions(fresh=True, here=True)} AND {live.LOGGED}"
_STALE = f"{live.IN_FORCE} AND {live.HERE} AND {live.SPEAKS} AND {live.STALE} AND {live.LOGGED}"


class Figures:
    """The difference that one refresh makes. `before` is called ahead of a change, `keep` at the end."""

    def __init__(self, db: sqlite3.Connection, now: int) -> None:
        self.db, self.now = db, now
        self.change: Counter[str] = Counter()
        self.seen: set[int] = set()
        known = dict(db.execute("SELECT key, value FROM index_meta WHERE key IN ('stale_from', 'stale_until')"))
        self.whole = not known or not int(known["stale_from"]) <= now < int(known["stale_until"])

    def before(self, entries: Collection[int]) -> None:
        """Entries (numbers) that are about to change, or to come."""
        fresh = set(entries) - self.seen
        self.seen |= fresh
        self.whole = self.whole or len(self.seen) > MOST
        if not self.whole:
            self.change.subtract(self._count(fresh))

    def keep(self) -> None:
        """Write the counts as they are now."""
        if self.whole:
            self.db.execute("DELETE FROM index_meta WHERE key LIKE 'count:%'")
            counts = self._count(None)
        else:
            self.change.update(self._count(self.seen))
            kept = "SELECT key, value FROM index_meta WHERE key LIKE 'count:%'"
            counts = Counter({key: int(value) for key, value in self.db.execute(kept)})
            counts.update(self.change)
        for name in ("count:contested", "count:stale"):
            counts.setdefault(name, 0)
        for key, value in counts.items():
            self.db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (key, str(value)))
        for key, value in (("stale_from", self.now), ("stale_until", self._until())):
            self.db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (key, str(value)))

    def _until(self) -> int:
        """The next instant at which the clock alone changes a count."""
        found = [
            self.db.execute(
                f"SELECT min({column}) FROM entries WHERE {column} > 0 AND {column} > ?", (self.now,)
            ).fetchone()[0]
            for column in ("stale_at", "valid_until", "valid_from")
        ]
        return min((value for value in found if value), default=FAR)

    def _count(self, entries: set[int] | None) -> Counter[str]:
        counts: Counter[str] = Counter()
        numbers = sorted(entries) if entries is not None else []
        chunks = [numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK)] if numbers else []
        for chunk in chunks if entries is not None else [None]:
            among = "1" if chunk is None else f"e.entry IN ({','.join(map(str, chunk))})"
            counts.update(self._groups(among))
        return counts

    def _groups(self, among: str) -> Counter[str]:
        now = {"now": self.now}
        counts: Counter[str] = Counter()
        fresh = (
            f"SELECT CASE e.standing WHEN 'contested' THEN 'contested' ELSE e.kind END, count(*) FROM live AS e"
            f" WHERE {among} AND {_FRESH} GROUP BY 1"
        )
        for name, count in self.db.execute(fresh, now):
            counts[f"count:{name}"] += count
        stale = self.db.execute(f"SELECT count(*) FROM live AS e WHERE {among} AND {_STALE}", now).fetchone()[0]
        counts["count:stale"] += stale
        return counts
