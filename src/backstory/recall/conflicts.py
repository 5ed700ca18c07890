"""Which live entries clash with one, and the table of conflicts in the index.

What a clash is, is judged by `clashes.compare`; here candidates are looked up through indexes, bounded, so that a
write costs the same at any size of the log.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from backstory.index.documents import rowid_range
from backstory.recall import live
from backstory.recall.clashes import Side, compare, content, words_of
from backstory.records.codec import read_event
from backstory.records.event import Entry

KINDS = ("decision", "pattern")
# Suggestions of what a new entry may replace; more are no help.
MAX_SIMILAR = 2
MAX_CANDIDATES = 40
# Words looked up, the longest first, and the newest entries read for each.
MAX_WORDS, MAX_ROWS = 10, 100


class Clash(msgspec.Struct, frozen=True):
    """A live entry that says something else (`sign` opposite, different, turned down) or nearly the same (similar)."""

    id: str
    sign: str
    why: str
    summary: str
    standing: str = ""


def side_of(entry: Entry) -> Side:
    """The side of a stored or new entry."""
    down = getattr(entry, "alternatives_rejected", ())
    return Side(
        entry.id, entry.kind, entry.summary, tuple(down), frozenset(ref.path for ref in entry.files), entry.scope
    )


def against(
    db: sqlite3.Connection, side: Side, now: int, exclude: Iterable[str] = (), *, below: int = 0, suggest: bool = True
) -> list[Clash]:
    """Live entries of this tree that clash with `side` or resemble it, conflicts first, at most ten.

    `below` limits the look-up to documents before that number. `suggest` False leaves out what only resembles.
    """
    found = []
    left_out = {side.id, *exclude}
    for id_, standing, body in _candidates(db, side, now, below):
        if id_ in left_out:
            continue
        other = _side(body)
        sign, why = compare(side, other, suggest=suggest) if other else ("", "")
        if other and sign:
            found.append(Clash(id_, sign, why, other.summary, standing))
    ranked = sorted(found, key=lambda clash: clash.id)
    similar = [clash for clash in ranked if clash.sign == "similar"][-MAX_SIMILAR:]
    return [clash for clash in ranked if clash.sign != "similar"][:10] + similar


@lru_cache(2048)
def _side(body: str) -> Side | None:
    entry = read_event(body.encode("utf-8", "surrogatepass"))
    return side_of(entry) if isinstance(entry, Entry) else None


def _candidates(db: sqlite3.Connection, side: Side, now: int, below: int) -> list[tuple[str, str, str]]:
    """Live decisions and patterns that share a file, or the most words: (id, standing, line)."""
    if side.kind not in KINDS:
        return []
    columns = "e.id, e.standing, v.body"
    where = f"{live.conditions()} AND {live.HERE} AND {live.LOGGED} AND e.kind IN ('decision', 'pattern')"
    rows: dict[str, tuple[str, str, str]] = {}
    for path in sorted(side.paths)[:20]:
        query = (
            f"SELECT {columns} FROM entry_files AS f CROSS JOIN live AS e ON e.entry = f.entry JOIN events AS v"
            f" ON v.event = e.entry WHERE f.path = :path AND {where} ORDER BY f.last_at DESC LIMIT {MAX_CANDIDATES}"
        )
        rows |= {row[0]: row for row in db.execute(query, {"path": path, "now": now})}
    numbers = ",".join(map(str, _alike(db, side, below)))
    query = (
        f"SELECT {columns} FROM documents AS d CROSS JOIN live AS e ON e.id = d.ref JOIN events AS v"
        f" ON v.event = e.entry WHERE d.rowid IN ({numbers}) AND {where}"
    )
    rows |= {row[0]: row for row in db.execute(query, {"now": now})}
    return list(rows.values())


def _alike(db: sqlite3.Connection, side: Side, below: int) -> list[int]:
    """The documents that share the most words with `side`, newest first among equals."""
    text = words_of(" ".join([side.summary, *side.turned_down]))
    words = sorted({word for word in text if word.isalnum() and content((word,))}, key=lambda word: (-len(word), word))
    low, high = rowid_range("entry")
    query = (
        "SELECT rowid FROM documents_fts WHERE documents_fts MATCH ? AND rowid BETWEEN ? AND ?"
        f" ORDER BY rowid DESC LIMIT {MAX_ROWS}"
    )
    shared: Counter[int] = Counter()
    for word in words[:MAX_WORDS]:
        match = f'{{title body}} : "{word}"'
        shared.update(number for (number,) in db.execute(query, (match, low, below - 1 if below else high)))
    ranked = sorted(shared, key=lambda number: (-shared[number], -number))
    return ranked[:MAX_CANDIDATES]


def postpone(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Note entries that were folded: what was known of their conflicts is void until `catch_up` compares them."""
    for number in numbers:
        row = db.execute("SELECT id, kind FROM entries WHERE entry = ? AND source = 'log'", (number,)).fetchone()
        if row is not None and row[1] in KINDS:
            db.execute("DELETE FROM conflicts WHERE one = ? OR other = ?", (row[0], row[0]))
            db.execute("INSERT OR IGNORE INTO uncompared VALUES (?)", (number,))


def catch_up(db: sqlite3.Connection, now: int, *, most: int = 0) -> int:
    """Compare the entries that wait, inside the caller's transaction; how many still wait.

    Each is held against those that were folded before it, so that one pass over all gives what single writes gave.
    With `most`, nothing is done when more than that wait: it is left to whoever asks for conflicts.
    """
    waiting = db.execute("SELECT count(*) FROM uncompared").fetchone()[0]
    if not waiting or (most and waiting > most):
        return int(waiting)
    rows = db.execute(
        "SELECT d.rowid, e.id, v.body FROM uncompared AS u JOIN entries AS e ON e.entry = u.entry"
        " JOIN events AS v ON v.event = e.entry JOIN documents AS d ON d.source = 'entry' AND d.ref = e.id"
        " WHERE e.standing IN ('active', 'confirmed', 'contested') AND e.in_tree = 1 ORDER BY d.rowid"
    ).fetchall()
    db.execute("DELETE FROM uncompared")
    for document, id_, body in rows:
        side = _side(body)
        for clash in against(db, side, now, below=document, suggest=False) if side else ():
            if not _settled(db, id_, clash.id):
                pair = sorted((id_, clash.id))
                db.execute("INSERT OR IGNORE INTO conflicts VALUES (?, ?, ?)", (*pair, clash.why))
    return 0


def _settled(db: sqlite3.Connection, one: str, other: str) -> bool:
    """Whether a person said that both stand."""
    rows = db.execute(
        "SELECT target, body FROM events AS r WHERE kind = 'resolve' AND target IN (?, ?) AND NOT EXISTS (SELECT 1 FROM"
        " events AS u WHERE u.target = r.target AND u.kind = 'undo' AND json_extract(u.body, '$.undoes') = r.id)",
        (one, other),
    )
    return any({target, json.loads(body).get("over")} == {one, other} for target, body in rows)


def conflicting(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Pairs in conflict as the index knows them, by id, with what is between them: contested ones first."""
    pairs: dict[tuple[str, str], str] = {}
    rows = db.execute("SELECT id, contested_with FROM entries WHERE standing = 'contested' ORDER BY id").fetchall()
    for id_, text in rows:
        for other in json.loads(text) if text else ():
            one, two = sorted((id_, other))
            if db.execute("SELECT 1 FROM live WHERE id = ?", (other,)).fetchone():
                pairs[(one, two)] = "contested"
    for one, two, reason in db.execute("SELECT one, other, why FROM conflicts ORDER BY one, other"):
        pairs.setdefault((one, two), reason)
    return pairs
