"""The live filter: the one place that says which entries count now.

The index keeps the view `live` (standing active, confirmed or contested); what depends on the clock is added here.
Every answer that shows entries as true goes through `conditions` or `rows`. Light: a hook imports it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

# Parameter :now (microseconds). `e` is the alias of a row of the view `live`.
IN_FORCE = "e.valid_from <= :now AND (e.valid_until IS NULL OR e.valid_until > :now)"
FRESH = "e.moved = '' AND (e.stale_at IS NULL OR e.stale_at > :now)"
STALE = "(e.moved <> '' OR (e.stale_at IS NOT NULL AND e.stale_at <= :now))"
HERE = "e.in_tree = 1"
# What was computed from git or from decision records is found by its files and words; lists and counts leave it out.
LOGGED = "e.source = 'log'"
# Of what is only in the journal, trials alone may enter a brief or a check: what was tried on an abandoned branch.
HERE_OR_TRIED = "(e.in_tree = 1 OR e.kind = 'trial')"
# A trial that worked is no warning, a closed issue no open one.
SPEAKS = "e.outcome <> 'worked' AND e.closed = 0"


def conditions(*, fresh: bool = False, here: bool = False) -> str:
    """The SQL condition over `live AS e` for entries that count now."""
    parts = [IN_FORCE]
    if fresh:
        parts += [FRESH, SPEAKS]
    if here:
        parts.append(HERE_OR_TRIED)
    return " AND ".join(parts)


def rows(
    db: sqlite3.Connection, columns: str, where: str, params: dict[str, object], tail: str = ""
) -> Iterable[tuple[object, ...]]:
    """Rows of live entries: `where` is added to what holds for all; `params` must hold `now`."""
    return db.execute(f"SELECT {columns} FROM live AS e WHERE {conditions()} AND {where} {tail}", params)


def standing_now(standing: str, valid_from: int, valid_until: int | None, now: int) -> str:
    """The standing with the clock applied: a live entry outside its time is `expired`."""
    if standing not in ("active", "confirmed", "contested"):
        return standing
    if valid_from > now or (valid_until is not None and valid_until <= now):
        return "expired"
    return standing
