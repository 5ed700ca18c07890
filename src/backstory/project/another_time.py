"""What the memory held at another time, for search and timeline: folded for what is asked alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from backstory.project.opened import Project
from backstory.recall.view import View, by_ids
from backstory.records.registry import LIVE, STANDINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.recall.past import Past
    from backstory.recall.search import SearchAnswer

# Entries that are folded together.
_AT_ONCE = 200


def search(
    project: Project, query: str, limit: int, kinds: list[str], path: str | None, as_of: int | None, known: int | None
) -> SearchAnswer:
    """Search over everything, then keep what held or was live at that time."""
    from backstory.recall.search import SearchAnswer
    from backstory.recall.search import search as recall_search

    wide = recall_search(project.db, query, project.now, limit=200, kinds=kinds, standings=STANDINGS, path=path)
    held = _past(project, as_of, known, [hit.ref for hit in wide.hits])
    hits = [hit for hit in wide.hits if hit.ref in held and held[hit.ref].standing in LIVE]
    views_now = {hit.ref: _as_then(hit.entry, held[hit.ref].standing) for hit in hits if hit.entry}
    shown = tuple(msgspec.structs.replace(hit, entry=views_now.get(hit.ref)) for hit in hits[:limit])
    return SearchAnswer(query, shown, (), len(hits) > limit)


def held(
    project: Project, where: str, params: dict[str, object], as_of: int | None, known_at: int | None
) -> Iterator[View]:
    """What held then, newest first, folded a few at a time: a list shows far less than there is."""
    began = "" if as_of is None else " OR (e.valid_from > 0 AND e.valid_from <= :moment)"
    query = (
        f"SELECT e.at, e.id FROM entries AS e WHERE {where} AND (e.at <= :moment{began})"
        f" AND (e.at, e.id) < (:last, :id) ORDER BY e.at DESC, e.id DESC LIMIT {_AT_ONCE}"
    )
    place: dict[str, object] = {"moment": known_at if as_of is None else as_of, "last": 1 << 62, "id": ""}
    while rows := project.db.execute(query, {**params, **place}).fetchall():
        ids = [row[1] for row in rows]
        then = _past(project, as_of, known_at, ids)
        items = by_ids(project.db, then, project.now)
        yield from (_as_then(items[id_], then[id_].standing) for id_ in ids if id_ in then)
        place |= {"last": rows[-1][0], "id": rows[-1][1]}


def _past(project: Project, as_of: int | None, known_at: int | None, ids: Collection[str]) -> dict[str, Past]:
    from backstory.recall import past

    if as_of is not None:
        return past.as_of(project.db, as_of, known_at, ids)
    assert known_at is not None
    return past.known_at(project.db, known_at, ids)


def _as_then(item: View, standing: str) -> View:
    """A view with the standing of another time; what happened since is said as a tag, not hidden."""
    if item.standing == standing:
        return item
    return msgspec.structs.replace(item, standing=standing, tags=(f"{item.standing} today",))
