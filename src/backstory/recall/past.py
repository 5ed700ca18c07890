"""The memory at another time, on both axes.

`known_at` T: what the log said at T (events recorded later do not exist). `as_of` T: what held at T by today's
knowledge (an entry holds from `valid_from`, or from when it was recorded, until it was ended, superseded or ran out;
what was rejected since never held). Both fold the events in memory; they are questions of a person, not of a hook.
"""

from __future__ import annotations

import sqlite3

import msgspec

from backstory.index.folding import value_hash, value_of
from backstory.records import operations as ops
from backstory.records.codec import BadLine, read_event
from backstory.records.event import Entry
from backstory.records.fold import Held, Seen, Standing, fold, tombstones
from backstory.records.times import format_instant, parse_instant

LIVE = ("active", "confirmed", "contested")


class Past(msgspec.Struct, frozen=True):
    """An entry as it stood at an instant."""

    entry: Entry
    standing: str
    state: Standing
    in_tree: bool


def known_at(db: sqlite3.Connection, instant: int) -> dict[str, Past]:
    """Every entry that the log had at `instant`, with the standing that it had by the log of then."""
    return _fold(db, format_instant(instant), instant)


def as_of(db: sqlite3.Connection, instant: int, known: int | None = None) -> dict[str, Past]:
    """The entries that held at `instant`, by today's knowledge or by that of `known`."""
    today = _fold(db, format_instant(known) if known is not None else "", None)
    starts = {id_: _start(item.entry) for id_, item in today.items()}
    held = {}
    for id_, item in today.items():
        ends = [end for end in (_end(item), *_successions(item, starts)) if end]
        if (
            starts[id_] <= instant
            and all(instant < end for end in ends)
            and item.standing not in ("rejected", "proposed")
        ):
            standing = item.standing if item.standing in LIVE else _stood(item)
            held[id_] = Past(item.entry, standing, item.state, item.in_tree)
    return held


def _stood(item: Past) -> str:
    return "confirmed" if item.entry.by.kind == "person" or item.state.confirmed_at else "active"


def _start(entry: Entry) -> int:
    return parse_instant(entry.valid_from or entry.at)


def _end(item: Past) -> int:
    if item.state.standing == "retired" and item.state.ended_at:
        return item.state.ended_at
    return parse_instant(item.entry.valid_until) if item.entry.valid_until else 0


def _successions(item: Past, starts: dict[str, int]) -> list[int]:
    """When what superseded it began to hold."""
    return [starts[id_] for id_ in item.state.superseded_by if id_ in starts]


def _fold(db: sqlite3.Connection, until: str, now: int | None) -> dict[str, Past]:
    condition = " WHERE event NOT IN (SELECT event FROM computed)" + (" AND at <= ?" if until else "")
    rows = db.execute(f"SELECT id, target, in_tree, body FROM events{condition}", (until,) if until else ())
    entries: dict[str, Held] = {}
    operations: dict[str, list[Seen]] = {}
    every: list[ops.Operation] = []
    for id_, target, in_tree, body in rows:
        try:
            event = read_event(body.encode("utf-8", "surrogatepass"))
        except BadLine:
            continue
        if isinstance(event, Entry):
            entries[id_] = Held(event, value_hash(value_of(event)), bool(in_tree))
        elif isinstance(event, ops.Operation):
            every.append(event)
            operations.setdefault(target, []).append(Seen(event, bool(in_tree)))
    found = {}
    for id_, state in fold(entries, operations, tombstones(every)).items():
        entry = entries[id_].entry
        standing = state.standing
        if now is not None and standing in LIVE and _out_of_time(entry, now):
            standing = "expired"
        found[id_] = Past(entry, standing, state, entries[id_].in_tree)
    return found


def _out_of_time(entry: Entry, now: int) -> bool:
    late = bool(entry.valid_until) and parse_instant(entry.valid_until) <= now
    return late or (bool(entry.valid_from) and parse_instant(entry.valid_from) > now)
