"""Entries that no log holds: computed from a source that we only read, and gone when the source is.

They stand in `events` like all others, so that operations act on them and every answer shows them; `computed` says
which they are. The caller holds the transaction and folds what `replace` returns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

import msgspec


class Computed(msgspec.Struct, frozen=True):
    """One of them: `body` is its line, without shard and hashes; for the rest see the table."""

    id: str
    at: str
    kind: str
    body: bytes
    level: str
    why: str = ""
    successors: tuple[str, ...] = ()
    patch: tuple[int, ...] = ()
    routine: bool = False


def replace(db: sqlite3.Connection, source: str, items: Iterable[Computed], *, complete: bool = True) -> set[int]:
    """Make `items` what the index holds of a source; the numbers of the events that came, changed or went.

    Unless `complete`, they are added to what is there. An id that a log holds is left to the log.
    """
    known = {row[0]: row[1:] for row in db.execute(_KNOWN, (source,))}
    touched: set[int] = set()
    for item in items:
        row = (source, item.level, item.why, json.dumps(item.successors), json.dumps(item.patch), item.routine)
        body = item.body.decode("utf-8", "replace")
        before = known.pop(item.id, None)
        if before is not None and before[1:] == (body, *row[1:]):
            continue
        if before is None:
            number = _insert(db, source, item, body)
            if number is None:
                continue
        else:
            number = before[0]
            fields = (item.at, item.kind, body, number)
            db.execute("UPDATE events SET at = ?, kind = ?, body = ? WHERE event = ?", fields)
        db.execute("INSERT OR REPLACE INTO computed VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *row))
        touched.add(number)
    for number, *_ in known.values() if complete else ():
        db.execute("UPDATE events SET in_tree = 0, in_journal = 0 WHERE event = ?", (number,))
        touched.add(number)
    return touched


def patches(db: sqlite3.Connection, source: str) -> dict[str, tuple[int, ...]]:
    """The line hashes kept with each entry of a source, by id."""
    query = "SELECT e.id, c.patch FROM computed AS c JOIN events AS e USING (event) WHERE c.source = ?"
    return {id_: tuple(json.loads(patch)) for id_, patch in db.execute(query, (source,))}


_KNOWN = (
    "SELECT e.id, e.event, e.body, c.level, c.why, c.successors, c.patch, c.routine"
    " FROM computed AS c JOIN events AS e USING (event) WHERE c.source = ?"
)


def _insert(db: sqlite3.Connection, source: str, item: Computed, body: str) -> int | None:
    cursor = db.execute(
        "INSERT OR IGNORE INTO events (id, at, kind, target, shard, in_tree, in_journal, body)"
        " VALUES (?, ?, ?, '', ?, 1, 0, ?)",
        (item.id, item.at, item.kind, f"({source})", body),
    )
    return int(cursor.lastrowid or 0) if cursor.rowcount else None
