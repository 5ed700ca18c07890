"""Looking through entries page by page: whatever their standing, which their tags say."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.recall import live
from backstory.recall.view import View, by_ids
from backstory.records.registry import KINDS, LIVE, STANDINGS

# What words can find: the best of so many.
MOST_FOUND = 200
# In a list of choices: what counts now, and all.
COUNTS, ALL = "live", "all"
STATES = ("", "fresh", "stale")


class Page(msgspec.Struct, frozen=True):
    """A page of entries, newest first; `total` are all that the filters let through."""

    total: int
    entries: tuple[View, ...]


def browse(
    project: Project, *, kind: str = "", standing: str = COUNTS, state: str = "", path: str = "", by: str = "",
    words: str = "", limit: int = 50, offset: int = 0,
) -> Page:  # fmt: skip
    """A page of the entries that the filters let through.

    `kind`: one kind, or "" for every one. `standing`: `live`, `all`, or one standing. `state`: fresh or stale.
    `path`: a file, or a folder with all in it. `by`: part of the writer's name. With `words` the best of them come
    first and there are at most `MOST_FOUND`. `BackstoryError` for a name that is none.
    """
    where, params = _conditions(project, kind, standing, state, path, by)
    if words.strip():
        return _found(project, words, where, params, limit, offset)
    total = project.db.execute(f"SELECT count(*) FROM entries AS e WHERE {where}", params).fetchone()[0]
    params |= {"limit": limit, "offset": offset}
    tail = "ORDER BY e.at DESC, e.id DESC LIMIT :limit OFFSET :offset"
    chosen = f"e.entry IN (SELECT e.entry FROM entries AS e WHERE {where} {tail}) ORDER BY e.at DESC, e.id DESC"
    return Page(int(total), tuple(answers.checked(project, chosen, params)))


def stamp(project: Project) -> str:
    """What changes when an answer about the project may: what was written, what git did, what was found wrong."""
    query = (
        "SELECT (SELECT coalesce(max(event), 0) FROM events), (SELECT count(*) FROM events),"
        " (SELECT count(*) FROM problems), (SELECT group_concat(value, ' ') FROM index_meta WHERE key IN"
        " ('head_signature', 'machine', 'marker'))"
    )
    row = project.db.execute(query).fetchone()
    return blake2b(" ".join(map(str, row)).encode(), digest_size=12).hexdigest()


def uncompared(project: Project) -> int:
    """How many entries were not held against the others yet."""
    return int(project.db.execute("SELECT count(*) FROM uncompared").fetchone()[0])


def _found(project: Project, words: str, where: str, params: dict[str, object], limit: int, offset: int) -> Page:
    answer = answers.search(project, words, limit=MOST_FOUND, standings=STANDINGS, sources=("entry",), near=())
    ids = list(dict.fromkeys(hit.ref for hit in answer.hits if hit.source == "entry"))
    kept = []
    for id_ in ids:
        row = project.db.execute(f"SELECT 1 FROM entries AS e WHERE e.id = :id AND {where}", {**params, "id": id_})
        if row.fetchone() is not None:
            kept.append(id_)
    shown = kept[offset : offset + limit]
    items = by_ids(project.db, shown, project.now)
    return Page(len(kept), tuple(items[id_] for id_ in shown))


def _conditions(
    project: Project, kind: str, standing: str, state: str, path: str, by: str
) -> tuple[str, dict[str, object]]:
    _known("kind of entry", kind, ("", *KINDS))
    _known("standing", standing, (COUNTS, ALL, *STANDINGS))
    _known("freshness", state, STATES)
    parts, params = [live.LOGGED], {"now": project.now}
    named: dict[str, object] = {}
    marks = ", ".join(f"'{name}'" for name in LIVE)
    if kind:
        parts.append("e.kind = :kind")
        named["kind"] = kind
    if standing == COUNTS:
        parts += [f"e.standing IN ({marks})", live.IN_FORCE]
    elif standing == "expired":
        parts.append(f"e.standing IN ({marks}) AND NOT ({live.IN_FORCE})")
    elif standing in LIVE:
        parts += ["e.standing = :standing", live.IN_FORCE]
        named["standing"] = standing
    elif standing != ALL:
        parts.append("e.standing = :standing")
        named["standing"] = standing
    if state:
        parts.append(live.FRESH if state == "fresh" else live.STALE)
    if path.strip():
        place = relative(project.root, path)
    if path.strip() and place:
        parts.append(
            "e.entry IN (SELECT f.entry FROM entry_files AS f WHERE f.path = :path OR f.cited = :path"
            " OR (f.path >= :below AND f.path < :above))"
        )
        named |= {"path": place, "below": f"{place}/", "above": f"{place}0"}
    if by.strip():
        parts.append("instr(lower(e.by_name), lower(:by)) > 0")
        named["by"] = by.strip()
    return " AND ".join(parts), {**params, **named}


def _known(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        names = ", ".join(name for name in known if name)
        raise BackstoryError(f"{given[:60]!r} is no {what}.", hint=f"They are: {names}.")
