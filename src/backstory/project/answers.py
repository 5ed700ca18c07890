"""The questions a project can be asked. Every answer is a frozen value with one JSON shape for all surfaces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from backstory.errors import BackstoryError
from backstory.index.documents import SOURCES
from backstory.project import another_time
from backstory.project.briefing import BriefAnswer, brief
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.project.refresh import compare_all, recheck, recheck_all
from backstory.project.resolve import candidates, entry_id
from backstory.project.sessions.provenance import Behind, Place, of_entry, of_path
from backstory.project.sharing.applying import OthersLesson, touching
from backstory.project.working_set import working_set
from backstory.recall import live
from backstory.recall.view import COLUMNS, SOURCE, View, by_ids, view, views
from backstory.records.codec import Fields, read_fields
from backstory.records.ids import normalise
from backstory.records.registry import KINDS, STANDINGS, kind_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.recall.search import SearchAnswer

__all__ = (
    "BriefAnswer", "Case", "Detail", "Pair", "SearchAnswer", "View", "Why", "brief", "case", "checked", "conflicts",
    "get", "one_view", "review_queue", "search", "show", "stale", "timeline", "tombstones", "why",
)  # fmt: skip


class Detail(msgspec.Struct, frozen=True):
    """One entry in full: `history` are the operations on it and the entries that replace it, oldest first.

    `comes_from` are the places in transcripts that it rests on, or the turn that it was recorded in.
    """

    entry: View
    history: tuple[Fields, ...]
    case: tuple[View, ...] = ()
    comes_from: tuple[Place, ...] = ()


class Why(msgspec.Struct, frozen=True):
    """Everything known about a path: entries by what they cite, what is known of its folder, whether it exists.

    `known` False: nothing is known about it, which is not the same as safe. `now`: the name that git gave it since.
    `behind`: the commits and sessions that made it what it is, or the line of it that was asked for.
    `lessons` are of other projects, on the libraries that the file uses.
    """

    path: str
    exists: bool
    known: bool
    entries: tuple[View, ...]
    withdrawn: tuple[View, ...]
    folder: tuple[View, ...]
    commits: int
    formerly: tuple[str, ...]
    now: str = ""
    behind: Behind | None = None
    lessons: tuple[OthersLesson, ...] = ()


class Case(msgspec.Struct, frozen=True):
    """An issue with all that belongs to it, oldest first. `issue` None: one that lives elsewhere, such as #717."""

    ref: str
    issue: View | None
    status: str
    entries: tuple[View, ...]


class Pair(msgspec.Struct, frozen=True):
    """A conflict, both sides, and the call that would resolve it."""

    one: View
    other: View
    why: str
    call: str


def get(project: Project, kind: str | None = None, *, limit: int = 1_000) -> list[View]:
    """Every live entry, newest first, of one kind or of all."""
    # The rows are chosen by index alone: sorting all that is live, with its text, takes a second at 100,000.
    name = _kind(kind) if kind else ""
    params: dict[str, object] = {"now": project.now, "limit": limit, "kind": name}
    order = "ORDER BY e.last_at DESC, e.id LIMIT :limit"
    index, of_kind = ("entries_live", "e.kind = :kind AND ") if name else ("entries_recent", "")
    chosen = (
        f"SELECT e.entry FROM entries AS e INDEXED BY {index} WHERE {of_kind}"
        f"e.standing IN ('active', 'confirmed', 'contested') AND {live.LOGGED} AND {live.IN_FORCE} {order}"
    )
    return checked(project, f"e.entry IN ({chosen}) {order}", params)


def checked(project: Project, where: str, params: dict[str, object]) -> list[View]:
    """Views whose cited files were looked at just now."""
    found = views(project.db, where, params, project.now)
    if recheck(project, [item.id for item in found]):
        found = views(project.db, where, params, project.now)
    return found


def _kind(text: str) -> str:
    name = kind_name(text)
    if name is None:
        raise BackstoryError(f"{text[:60]!r} is no kind of entry.", hint=f"Kinds are: {', '.join(KINDS)}.")
    return name


def search(
    project: Project,
    query: str,
    *,
    limit: int = 10,
    kinds: Sequence[str] = (),
    standings: Sequence[str] = (),
    sources: Sequence[str] = (),
    path: str | None = None,
    near: Sequence[str] | None = None,
    since: int | None = None,
    until: int | None = None,
    as_of: int | None = None,
    known_at: int | None = None,
) -> SearchAnswer:
    """What memory and history have on `query`; with `as_of` or `known_at` what the memory had at another time.

    `near` are paths (relative to the project) of which what shares them comes first; None: the working set.
    """
    _check_names("standing", standings, STANDINGS)
    _check_names("source", sources, SOURCES)
    from backstory.recall.search import search as recall_search

    names = [_kind(kind) for kind in kinds]
    place = relative(project.root, path) if path else None
    if as_of is not None or known_at is not None:
        return another_time.search(project, query, limit, names, place, as_of, known_at)
    if near is None:
        near = working_set(project.db, project.root, project.config.places.git_dir, seconds=1.0)

    def ask() -> SearchAnswer:
        return recall_search(
            project.db, query, project.now, limit=limit, kinds=names, standings=standings, sources=sources,
            path=place, since=since, until=until, boost_paths=near or (),
        )  # fmt: skip

    answer = ask()
    if recheck(project, [hit.ref for hit in answer.hits if hit.source == "entry"]):
        answer = ask()
    if names or standings or (sources and "session" not in sources):
        return answer
    from backstory.project.sessions.merging import merged

    return merged(project, answer, limit, alone=tuple(sources) == ("session",), path=place, since=since, until=until)


def _check_names(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    wrong = sorted(set(given) - set(known))
    if wrong:
        raise BackstoryError(f"{wrong[0][:60]!r} is no {what}.", hint=f"They are: {', '.join(known)}.")


def show(project: Project, ref: str) -> Detail:
    """One entry with its whole history."""
    id_ = entry_id(project.db, ref)
    recheck(project, [id_])
    item = by_ids(project.db, [id_], project.now)[id_]
    around = _case_entries(project, id_) if item.kind == "issue" else ()
    return Detail(item, tuple(_history(project, id_)), tuple(around), of_entry(project, item))


def _history(project: Project, id_: str) -> Iterator[Fields]:
    """The operations on an entry and the entries that name it as replaced, these with the standing that they have."""
    rows = project.db.execute(
        "SELECT body FROM events WHERE (target = ? AND target <> '') OR id IN (SELECT v.id FROM links AS l JOIN events"
        " AS v ON v.event = l.one WHERE l.other = ?) OR (kind = 'resolve' AND body LIKE ?) ORDER BY at, id",
        (id_, id_, f'%"over":"{id_}"%'),
    )
    for (body,) in rows:
        fields = read_fields(body.encode())
        if fields["kind"] not in KINDS:
            yield fields
        elif id_ in fields.get("supersedes", ()):
            yield {**fields, "standing": one_view(project, str(fields["id"])).standing}


def why(project: Project, path: str, cwd: str = "", *, line: int = 0) -> Why:
    """Everything known about a file or folder, what it rests on, and what stands behind it or behind a line of it."""
    place = relative(project.root, path, cwd)
    db, now = project.db, project.now
    former = _former_names(project, place)
    names = [place, *former]
    marks = ",".join("?" * len(names))
    inside = "1" if not place else f"(f.path IN ({marks}) OR f.cited IN ({marks}) OR f.path >= ? AND f.path < ?)"
    params = [] if not place else [*names, *names, f"{place}/", f"{place}0"]
    where = f"e.entry IN (SELECT f.entry FROM entry_files AS f WHERE {inside}) ORDER BY e.last_at DESC, e.id LIMIT 500"
    found = views(db, where, params, now)
    if recheck(project, [item.id for item in found]):
        found = views(db, where, params, now)
    folder = place.rpartition("/")[0]
    beside = _in_folder(project, folder, {item.id for item in found}) if folder else []
    shared = touching(project, [place]) if place else []
    count = db.execute(f"SELECT count(DISTINCT sha) FROM commit_files WHERE path IN ({marks})", names).fetchone()[0]
    return Why(
        path=place or ".",
        exists=os.path.lexists(os.path.join(project.root, place)),
        known=bool(found or beside or shared),
        entries=tuple(item for item in found if item.live or item.standing == "proposed"),
        withdrawn=tuple(item for item in found if not item.live and item.standing != "proposed"),
        folder=tuple(beside),
        commits=count,
        formerly=tuple(former),
        now=_present_name(project, place),
        behind=of_path(project, place, line),
        lessons=tuple(shared),
    )


def _former_names(project: Project, path: str) -> list[str]:
    names: list[str] = []
    todo = [path]
    while todo and len(names) < 50:
        rows = project.db.execute("SELECT old FROM renames WHERE new = ?", (todo.pop(),)).fetchall()
        fresh = [row[0] for row in rows if row[0] not in names and row[0] != path]
        names += fresh
        todo += fresh
    return names


def _present_name(project: Project, path: str) -> str:
    """What git renamed a missing file to, if that exists; "" otherwise."""
    names = [path]
    while not os.path.lexists(os.path.join(project.root, names[-1])):
        row = project.db.execute(
            "SELECT new FROM renames WHERE old = ? ORDER BY landed DESC, new LIMIT 1", (names[-1],)
        ).fetchone()
        if row is None or row[0] in names:
            return ""
        names.append(row[0])
    return names[-1] if len(names) > 1 else ""


def _in_folder(project: Project, folder: str, seen: set[str]) -> list[View]:
    found = checked(
        project,
        "e.standing IN ('active', 'confirmed', 'contested') AND e.entry IN (SELECT f.entry FROM entry_files AS f"
        f" WHERE f.folder = :folder) AND {live.IN_FORCE} ORDER BY e.last_at DESC, e.id LIMIT 20",
        {"folder": folder, "now": project.now},
    )
    return [item for item in found if item.id not in seen]


def timeline(
    project: Project,
    *,
    limit: int = 50,
    kinds: Sequence[str] = (),
    since: int | None = None,
    until: int | None = None,
    as_of: int | None = None,
    known_at: int | None = None,
    session: str = "",
) -> list[View]:
    """All entries, newest first, whatever their standing, which their tags say; at another time only what held."""
    names = [_kind(kind) for kind in kinds]
    marks = ",".join(f":kind{place}" for place in range(len(names)))
    params: dict[str, object] = {f"kind{place}": name for place, name in enumerate(names)}
    params |= {"since": since or 0, "until": until or (1 << 62), "session": session}
    where = f"{live.LOGGED} AND e.at >= :since AND e.at < :until AND (:session = '' OR e.session = :session)"
    where += f" AND e.kind IN ({marks})" if names else ""
    if as_of is None and known_at is None:
        params["limit"] = limit
        return checked(project, f"{where} ORDER BY e.at DESC, e.id DESC LIMIT :limit", params)
    return list(islice(another_time.held(project, where, params, as_of, known_at), limit))


def case(project: Project, ref: str) -> Case:
    """An issue with its hypotheses, trials, fix and notes. `ref` is an issue's id or an outside number."""
    typed = ref.strip()
    name = normalise(typed)
    found = candidates(project.db, name) if name else []
    if name and len(found) > 1:
        entry_id(project.db, typed)
    id_ = found[0][0] if found else typed
    issue = by_ids(project.db, [id_], project.now).get(id_)
    if issue is not None and issue.kind != "issue":
        id_ = issue.issue or id_
        issue = by_ids(project.db, [id_], project.now).get(id_)
    members = _case_entries(project, id_)
    if issue is None and not members:
        raise BackstoryError(
            f"Nothing is recorded about the issue {typed[:60]!r}.",
            hint='`backstory issue "what is wrong"` opens one; `backstory timeline --kind issue` lists them.',
        )
    closed = any(item.kind == "fix" and item.live for item in members)
    return Case(id_, issue, "closed" if closed else "open", tuple(members))


def _case_entries(project: Project, id_: str) -> list[View]:
    where = "e.case_of = :case AND e.case_of <> '' AND e.id <> :case ORDER BY e.at, e.id"
    return checked(project, where, {"case": id_})


def stale(project: Project, *, limit: int = 200) -> list[View]:
    """Live entries under which the ground has moved, longest unconfirmed first."""
    recheck_all(project)
    # The plus keeps the index of standings out: along `last_at` the first of a page are found at once.
    where = f"+e.standing IN ('active', 'confirmed', 'contested') AND {live.IN_FORCE} AND {live.STALE}"
    where += f" AND {live.SPEAKS} AND {live.LOGGED}"
    params: dict[str, object] = {"now": project.now, "limit": limit}
    return views(project.db, f"{where} ORDER BY e.last_at, e.id LIMIT :limit", params, project.now)


def conflicts(project: Project, *, compare: bool = True) -> list[Pair]:
    """Pairs that say different things: contested ones first, then those found by comparing.

    `compare` first what was not compared yet: after a bulk of new entries that takes long.
    """
    from backstory.recall.conflicts import conflicting

    if compare:
        compare_all(project)
    pairs = conflicting(project.db)
    items = by_ids(project.db, sorted({id_ for pair in pairs for id_ in pair}), project.now)
    found = []
    for (one, two), reason in pairs.items():
        if one in items and two in items and items[one].live and items[two].live:
            call = f"backstory resolve {items[two].short} --over {items[one].short}"
            found.append(Pair(items[one], items[two], reason, call))
    return found


def review_queue(project: Project) -> list[View]:
    """What waits for a person: proposed and contested entries, oldest first."""
    where = f"e.standing IN ('proposed', 'contested') AND {live.LOGGED} ORDER BY e.at, e.id LIMIT 1000"
    return checked(project, where, {})


def tombstones(project: Project) -> list[dict[str, object]]:
    """What is rejected: key, value or entry, by whom and why. Its standing is said: nobody shall take it for true."""
    rows = project.db.execute(
        "SELECT t.key, t.at, t.by_name, t.reason, t.target, coalesce(e.summary, t.value) FROM tombstones AS t"
        " LEFT JOIN entries AS e ON e.id = t.target ORDER BY t.at, t.key"
    )
    names = ("key", "at", "by", "reason", "entry", "value")
    return [{"standing": "rejected", **dict(zip(names, row, strict=True))} for row in rows]


def one_view(project: Project, id_: str) -> View:
    """The view of an entry by its whole id."""
    row = project.db.execute(f"SELECT {COLUMNS} FROM {SOURCE} WHERE e.id = ?", (id_,)).fetchone()
    return view(project.db, row, project.now)
