"""Search with the live filter applied, and with what holds instead of what was withdrawn.

By default only what counts now is ranked. A query that best matches something superseded, rejected, retired or listed
as a turned-down alternative is answered with what holds instead, and the answer says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from backstory.index.search import Hit
from backstory.index.search import search as full_text
from backstory.recall import lessons, live
from backstory.recall.view import View, by_ids
from backstory.records.registry import LIVE
from backstory.records.times import format_instant
from backstory.records.value import value_key
from backstory.sources.ticket_names import stem_of_path

OF_TICKETS = ("ticket", "run_record")
WITHDRAWN = ("superseded", "rejected", "retired")


class Found(msgspec.Struct, frozen=True):
    """A hit: where it comes from, how well it fits (higher is better), and the entry when it is one.

    `stem` is the ticket that it is or is about, `at` its instant (ISO 8601), "" where there is none.
    """

    source: str
    ref: str
    score: float
    mode: str
    title: str
    snippet: str
    entry: View | None = None
    stem: str = ""
    at: str = ""


class Instead(msgspec.Struct, frozen=True):
    """Something withdrawn that the query asks for: what it was, why it does not hold, and what does."""

    asked: View
    why: str
    holds: tuple[View, ...] = ()


class SearchAnswer(msgspec.Struct, frozen=True):
    """Hits, best first; `instead` for what was asked for and no longer holds; `more` when the limit cut hits off."""

    query: str
    hits: tuple[Found, ...]
    instead: tuple[Instead, ...] = ()
    more: bool = False


def search(
    db: sqlite3.Connection,
    query: str,
    now: int,
    *,
    limit: int = 10,
    kinds: Sequence[str] = (),
    standings: Sequence[str] = (),
    sources: Sequence[str] = (),
    path: str | None = None,
    since: int | None = None,
    until: int | None = None,
    boost_paths: Sequence[str] = (),
) -> SearchAnswer:
    """What the memory has on `query`. `standings` widens or narrows it from what counts now."""
    where, params = _filter(standings, now)
    hits = full_text(
        db, query, limit=limit + 1, sources=sources, kinds=kinds, path=path, since=since, until=until,
        where=where, params=params, boost_paths=boost_paths, now=now,
    )  # fmt: skip
    entries = by_ids(db, [hit.ref for hit in hits if hit.source == "entry"], now)
    found = tuple(_found(hit, entries) for hit in hits[:limit])
    instead = () if standings or (sources and "entry" not in sources) else _instead(db, query, now, path, hits)
    return SearchAnswer(query, found, instead, len(hits) > limit)


def _filter(standings: Sequence[str], now: int) -> tuple[str, tuple[object, ...]]:
    """The live filter as a condition over `documents AS d`; instants are numbers, so they may stand in the text.

    The unary plus keeps the planner on the rows that full text found: by source it would walk every entry there is.
    """
    clock = live.IN_FORCE.replace(":now", str(int(now)))
    if not standings:
        inner = f"SELECT e.id FROM live AS e WHERE {clock} AND e.id = d.ref"
        # A decision record is what a project decided, though nobody said yet that it holds for agents: it is tagged.
        written = "SELECT e.id FROM entries AS e WHERE e.source = 'adr' AND e.standing = 'proposed' AND e.id = d.ref"
        # Lessons of other projects: those that no rejection here turns away.
        shared = f"SELECT l.id FROM lessons AS l WHERE {lessons.HOLDS.replace(':now', str(int(now)))} AND l.id = d.ref"
        others = f"(d.source = 'lesson' AND d.ref IN ({shared}))"
        return f"(d.source NOT IN ('entry', 'lesson') OR d.ref IN ({inner}) OR d.ref IN ({written}) OR {others})", ()
    marks = ",".join("?" * len(standings))
    parts = [f"SELECT e.id FROM entries AS e WHERE e.standing IN ({marks}) AND e.id = d.ref"]
    if not set(standings) & {"expired"} and set(standings) <= set(LIVE):
        parts[0] += f" AND {clock}"
    if "expired" in standings:
        parts.append(f"SELECT e.id FROM live AS e WHERE NOT ({clock}) AND e.id = d.ref")
    condition = " OR ".join(f"d.ref IN ({part})" for part in parts)
    return f"(+d.source = 'entry' AND ({condition}))", tuple(standings)


def _found(hit: Hit, entries: dict[str, View]) -> Found:
    view = entries.get(hit.ref) if hit.source == "entry" else None
    title, snippet = hit.title, hit.snippet
    if view is None:
        # What others wrote was never looked through for secrets.
        from backstory.records.secrets import redact

        title, snippet = redact(title).text, redact(snippet).text
    stem = stem_of_path(hit.ref) if hit.source in OF_TICKETS else ""
    at = format_instant(hit.at) if hit.at is not None else ""
    return Found(hit.source, hit.ref, round(hit.score, 4), hit.mode, title, snippet, view, stem, at)


def _instead(
    db: sqlite3.Connection, query: str, now: int, path: str | None, hits: Sequence[Hit]
) -> tuple[Instead, ...]:
    where, params = _filter(WITHDRAWN, now)
    marks = ",".join("?" * len(WITHDRAWN))
    # Most memories withdrew nothing yet: then there is no second search to pay for.
    any_gone = db.execute(f"SELECT 1 FROM entries WHERE standing IN ({marks}) LIMIT 1", WITHDRAWN).fetchone()
    gone = (
        full_text(db, query, limit=3, sources=("entry",), path=path, where=where, params=params, now=now)
        if any_gone
        else []
    )
    views = by_ids(db, [hit.ref for hit in gone if hit.mode == "all"], now)
    found = []
    for view in views.values():
        successors = by_ids(db, _final(db, view.id), now)
        holds = tuple(item for item in successors.values() if item.live)
        reason = f": {view.ended['reason']}" if view.ended.get("reason") else ""
        found.append(Instead(view, f"{view.standing}{reason}", holds))
    found += _turned_down(db, query, now, hits)
    return tuple(found)


def _final(db: sqlite3.Connection, id_: str) -> list[str]:
    """The live ends of the chain of successors of an entry."""
    ends, todo, seen = [], [id_], {id_}
    while todo and len(seen) < 200:
        current = todo.pop()
        row = db.execute("SELECT superseded_by FROM entries WHERE id = ?", (current,)).fetchone()
        following = msgspec.json.decode(row[0]) if row and row[0] else []
        if not following and current != id_:
            ends.append(current)
        todo += [other for other in following if other not in seen]
        seen.update(following)
    return sorted(ends)


def _turned_down(db: sqlite3.Connection, query: str, now: int, hits: Sequence[Hit]) -> list[Instead]:
    """Live decisions among the hits that list what was asked for as an alternative they rejected."""
    words = set(value_key(query).split())
    found = []
    for view in by_ids(db, [hit.ref for hit in hits if hit.kind == "decision"], now).values():
        for alternative in view.fields.get("alternatives_rejected", ()):
            said = set(value_key(str(alternative)).split())
            summary = set(value_key(view.summary).split())
            if words & said and not words & said <= summary:
                found.append(Instead(view, f"'{alternative}' was turned down by this decision", (view,)))
                break
    return found
