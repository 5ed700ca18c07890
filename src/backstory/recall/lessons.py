"""Lessons of other projects that the index holds: what a brief takes of them, and the one condition they meet.

Promise: only what another project shared, still stands by and this project's dependencies match is in the table; what
this project rejected is turned away here. Light: a hook imports it.
"""

from __future__ import annotations

from backstory.recall.brief import date
from backstory.recall.tokens import tenths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

MOST = 3
# Over `lessons AS l`: in force, and no value that a person rejected here.
HOLDS = (
    "l.valid_from <= :now AND (l.valid_until IS NULL OR l.valid_until > :now)"
    " AND NOT EXISTS (SELECT 1 FROM tombstones AS t WHERE t.key = l.value_key)"
)
FRESH = "(l.stale_at IS NULL OR l.stale_at > :now)"


def count(db: sqlite3.Connection, now: int) -> int:
    """How many apply here now."""
    return int(db.execute(f"SELECT count(*) FROM lessons AS l WHERE {HOLDS}", {"now": now}).fetchone()[0])


class Row:
    """One lesson as the index has it. `line` is safe to show; `stale` and `contested` keep it out of a brief."""

    __slots__ = ("at", "contested", "id", "library", "line", "project", "stale")

    def __init__(self, row: tuple[str, str, str, str, int, int | None, int], now: int) -> None:
        self.id, self.library, self.line, self.project, self.at = row[:5]
        self.stale, self.contested = row[5] is not None and row[5] <= now, bool(row[6])


def rows(db: sqlite3.Connection, now: int) -> list[Row]:
    """Every lesson that applies here now, the newest first."""
    query = (
        "SELECT l.id, l.library, l.line, l.project, l.at, l.stale_at, l.contested FROM lessons AS l"
        f" WHERE {HOLDS} ORDER BY l.last_at DESC, l.id"
    )
    return [Row(row, now) for row in db.execute(query, {"now": now})]


def lines(db: sqlite3.Connection, now: int) -> list[tuple[str, str, int]]:
    """(id, line of a brief without dash, cost in tenths of a token) of the newest that are fresh and not in doubt."""
    query = (
        f"SELECT l.id, l.library, l.line, l.project, l.at FROM lessons AS l WHERE {HOLDS} AND {FRESH}"
        f" AND l.contested = 0 ORDER BY l.last_at DESC, l.id LIMIT {MOST}"
    )
    found = []
    for id_, library, line, name, at in db.execute(query, {"now": now}):
        text = f"{library}: {line} (from {name}, {date(at)}, {id_[-6:]})"
        found.append((id_, text, tenths_of(f"- {text}\n")))
    return found
