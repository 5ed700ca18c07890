"""Which entries say different things about one subject. Deterministic, from words and cited files alone.

Four signs, each with a measured false-alarm guard in the tests:

- opposite: the same words, one side negated; or an opposite pair (enable and disable) among shared words
- different: the same sentence but for one slot (`Use tabs for indentation`, `Use spaces for indentation`)
- turned down: one side is among the other's rejected alternatives
- similar: close wording without a sign of conflict; offered for superseding, never listed as a conflict
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

import msgspec

from backstory.recall import live
from backstory.records.codec import read_event
from backstory.records.event import Entry
from backstory.records.value import similarity, value_key

KINDS = ("decision", "pattern")
MAX_CANDIDATES = 40
SIMILAR = 0.6

_NEGATIONS = frozenset(
    "not no never dont doesnt cannot cant wont without avoid stop drop disallow forbid ban nor isnt arent shouldnt"
    " mustnt neither".split()
)
_STOP = frozenset(
    "a an and are as at be by do for from has have in into is it its of on or our so that the their then this to use"
    " uses used using was we were when where which will with all any always must should only every keep make".split()
)
_SCOPING = frozenset(
    "for in on when of to with from by at under inside during while within per via after before".split()
)
_OPPOSITES = (
    ("enable", "disable"), ("enabled", "disabled"), ("allow", "forbid"), ("allow", "deny"), ("always", "never"),
    ("sync", "async"), ("synchronous", "asynchronous"), ("add", "remove"), ("include", "exclude"), ("on", "off"),
    ("true", "false"), ("required", "optional"), ("public", "private"), ("mutable", "immutable"), ("lazy", "eager"),
    ("strict", "lenient"), ("tabs", "spaces"), ("merge", "rebase"), ("keep", "drop"), ("keep", "remove"),
    ("before", "after"), ("serial", "parallel"), ("monorepo", "multirepo"), ("opt-in", "opt-out"),
)  # fmt: skip


class Side(msgspec.Struct, frozen=True):
    """What is compared: the sentence, what it turned down, the cited paths, the scope."""

    id: str
    kind: str
    summary: str
    turned_down: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()
    scope: str = ""


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


def compare(one: Side, other: Side) -> tuple[str, str]:
    """(sign, why) of two sides; ("", "") when they are about different things or agree."""
    if one.scope and other.scope and one.scope != other.scope:
        return "", ""
    a, b = value_key(one.summary).split(), value_key(other.summary).split()
    for first, second in ((one, other), (other, one)):
        down = _turned_down(first, second)
        if down:
            return "turned down", down
    shared_file = bool(one.paths & other.paths)
    for sign, why in (_opposite(a, b, shared_file), _different(a, b, shared_file)):
        if sign:
            return sign, why
    close = similarity(one.summary, other.summary) >= SIMILAR and value_key(one.summary) != value_key(other.summary)
    return ("similar", "nearly the same words") if close else ("", "")


def _content(words: Iterable[str]) -> set[str]:
    return {word for word in words if word not in _STOP and word not in _NEGATIONS}


def _turned_down(one: Side, other: Side) -> str:
    """The alternative of `one` that `other` is about, if their subjects meet."""
    said = set(value_key(other.summary).split())
    subject = _content(value_key(one.summary).split())
    for alternative in one.turned_down:
        words = _content(value_key(alternative.split(":")[0]).split())
        if words and words <= said and not words <= subject:
            rest = _content(said) - words
            if one.paths & other.paths or subject & rest or not rest:
                return f"'{alternative}' was turned down"
    return ""


def _opposite(a: list[str], b: list[str], shared_file: bool) -> tuple[str, str]:
    core_a, core_b = _content(a), _content(b)
    both = core_a & core_b
    smaller = min(len(core_a), len(core_b))
    negated = sum(word in _NEGATIONS for word in a) % 2 != sum(word in _NEGATIONS for word in b) % 2
    if negated and smaller and len(both) >= (1 if shared_file else min(2, smaller)) and len(both) / smaller >= 0.6:
        return "opposite", "one says it, the other denies it"
    words_a, words_b = set(a), set(b)
    for left, right in _OPPOSITES:
        for x, y in ((left, right), (right, left)):
            if x in words_a - words_b and y in words_b - words_a:
                rest = (words_a | words_b) - {x, y} - _STOP
                common = (words_a & words_b) - _STOP
                if common and len(common) / max(1, len(rest)) >= (0.34 if shared_file else 0.5):
                    return "opposite", f"{x} against {y}"
    return "", ""


def _different(a: list[str], b: list[str], shared_file: bool) -> tuple[str, str]:
    """The same sentence but for one slot of up to four words that is not the scope of the statement."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    slot_a, slot_b = a[start : len(a) - end], b[start : len(b) - end]
    if not slot_a or not slot_b or max(len(slot_a), len(slot_b)) > 4:
        return "", ""
    common = a[:start] + (a[len(a) - end :] if end else [])
    numbers = any(word[0].isdigit() for word in slot_a) and any(word[0].isdigit() for word in slot_b)
    scoped = start > 0 and a[start - 1] in _SCOPING and not numbers
    slots_overlap = _content(slot_a) & _content(slot_b)
    if scoped or slots_overlap or not _content(slot_a) or not _content(slot_b):
        return "", ""
    if len(common) >= 2 and (_content(common) or (shared_file and len(common) >= 3)):
        return "different", f"{' '.join(slot_a)} against {' '.join(slot_b)}"
    return "", ""


def against(db: sqlite3.Connection, side: Side, now: int, exclude: Iterable[str] = ()) -> list[Clash]:
    """Live entries of this tree that clash with `side` or resemble it, conflicts first, at most ten."""
    found = []
    left_out = {side.id, *exclude}
    for id_, standing, body in _candidates(db, side, now):
        if id_ in left_out:
            continue
        entry = read_event(body.encode())
        if isinstance(entry, Entry):
            sign, why = compare(side, side_of(entry))
            if sign:
                found.append(Clash(id_, sign, why, entry.summary, standing))
    return sorted(found, key=lambda clash: (clash.sign == "similar", clash.id))[:10]


def _candidates(db: sqlite3.Connection, side: Side, now: int) -> list[tuple[str, str, str]]:
    """Live decisions and patterns that share a file or rare words: bounded, by index."""
    if side.kind not in KINDS:
        return []
    columns = "e.id, e.standing, v.body"
    where = f"{live.conditions()} AND {live.HERE} AND e.kind IN ('decision', 'pattern')"
    rows: dict[str, tuple[str, str, str]] = {}
    for path in sorted(side.paths)[:20]:
        query = (
            f"SELECT {columns} FROM entry_files AS f CROSS JOIN live AS e ON e.entry = f.entry JOIN events AS v"
            f" ON v.event = e.entry WHERE f.path = :path AND {where} ORDER BY f.last_at DESC LIMIT {MAX_CANDIDATES}"
        )
        rows |= {row[0]: row for row in db.execute(query, {"path": path, "now": now})}
    words = sorted(_content(value_key(" ".join([side.summary, *side.turned_down])).split()), key=len, reverse=True)
    if words:
        match = "title : (" + " OR ".join(f'"{word}"' for word in words[:12] if word.isalnum()) + ")"
        query = (
            f"SELECT {columns} FROM (SELECT rowid AS n FROM documents_fts WHERE documents_fts MATCH :match"
            f" ORDER BY rank LIMIT {5 * MAX_CANDIDATES}) CROSS JOIN documents AS d ON d.rowid = n AND d.source = 'entry'"
            f" CROSS JOIN live AS e ON e.id = d.ref JOIN events AS v ON v.event = e.entry WHERE {where}"
            f" LIMIT {MAX_CANDIDATES}"
        )
        if match != "title : ()":
            rows |= {row[0]: row for row in db.execute(query, {"match": match, "now": now})}
    return list(rows.values())


def refresh(db: sqlite3.Connection, numbers: Iterable[int], now: int) -> None:
    """Bring the table of conflicts up to date for the entries that changed, inside the caller's transaction."""
    for number in sorted(numbers):
        row = db.execute(
            "SELECT e.id, e.kind, v.body, e.standing IN ('active', 'confirmed', 'contested') AND e.in_tree FROM entries"
            " AS e JOIN events AS v ON v.event = e.entry WHERE e.entry = ?",
            (number,),
        ).fetchone()
        if row is None or row[1] not in KINDS:
            continue
        db.execute("DELETE FROM conflicts WHERE one = ? OR other = ?", (row[0], row[0]))
        entry = read_event(row[2].encode())
        if row[3] and isinstance(entry, Entry):
            for clash in against(db, side_of(entry), now):
                if clash.sign != "similar" and not _settled(db, entry.id, clash.id):
                    pair = sorted((entry.id, clash.id))
                    db.execute("INSERT OR IGNORE INTO conflicts VALUES (?, ?, ?)", (*pair, clash.why))


def _settled(db: sqlite3.Connection, one: str, other: str) -> bool:
    """Whether a person said that both stand."""
    rows = db.execute("SELECT target, body FROM events WHERE kind = 'resolve' AND target IN (?, ?)", (one, other))
    return any({target, json.loads(body).get("over")} == {one, other} for target, body in rows)
