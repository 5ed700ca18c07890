"""What the machine-wide log holds, as an answer: all of it, one entry, a search, its state."""

from __future__ import annotations

from typing import Any

import msgspec

from backstory.project.opened import Project
from backstory.project.resolve import entry_id, short_id
from backstory.project.sharing import machine
from backstory.project.verifying import Report, verify
from backstory.recall import search as recall_search
from backstory.records.hostile import one_line
from backstory.records.times import format_instant


class SharedLesson(msgspec.Struct, frozen=True):
    """A shared entry: where it comes from, what it says, and whether others see it (`counts`) and why not.

    `project_id` may name a project that is not on this machine any more.
    """

    id: str
    short: str
    project: str
    project_id: str
    standing: str
    shared: bool
    counts: bool
    libraries: tuple[str, ...]
    summary: str
    detail: str
    at: str
    by: dict[str, str]
    superseded_by: tuple[str, ...] = ()
    ended: dict[str, str] = {}


class SharedDetail(msgspec.Struct, frozen=True):
    """One shared entry with every event about it in the machine-wide log, in order."""

    lesson: SharedLesson
    history: tuple[dict[str, Any], ...]


def listed(now: int, *, everything: bool = False, words: str = "", limit: int = 50) -> list[SharedLesson]:
    """What is shared, newest first, or best first for `words`; with `everything` what was withdrawn too."""
    if not machine.exists():
        return []
    with machine.opened(now) as log:
        found = {copy.id: copy for copy in machine.copies(log.db) if everything or copy.counts}
        order = list(found)
        if words:
            standings = ("active", "confirmed", "contested", "superseded", "retired") if everything else ()
            hits = recall_search.search(log.db, words, now, limit=limit, standings=standings, sources=("entry",)).hits
            order = [hit.ref for hit in hits if hit.ref in found]
        return [_lesson(log, found[id_]) for id_ in order[:limit]]


def shown(now: int, target: str) -> SharedDetail:
    """The shared entry that `target` names, whatever its standing."""
    with machine.opened(now) as log:
        id_ = entry_id(log.db, target)
        copy = next(machine.copies(log.db, "e.id = ?", (id_,)))
        return SharedDetail(_lesson(log, copy), tuple(_history(log, id_)))


def verified(now: int) -> Report:
    """Every line of the machine-wide log, read afresh."""
    return verify(machine.machine_config(), now)


def notices(now: int) -> list[str]:
    """What has to be said beside an answer from a log that is not sound."""
    if not machine.exists():
        return []
    with machine.opened(now) as log:
        count = log.problem_count()
        said = [f"the machine-wide log has {count} problem(s); run `backstory global verify`"] if count else []
        return [*log.notices, *said]


def _lesson(log: Project, copy: machine.Copy) -> SharedLesson:
    fields = copy.fields
    ended = (
        {"at": format_instant(copy.ended_at), "by": copy.ended_by, "reason": one_line(copy.reason, 300)}
        if copy.ended_at
        else {}
    )
    return SharedLesson(
        id=copy.id,
        short=short_id(log.db, copy.id),
        project=one_line(copy.project, 60),
        project_id=copy.origin,
        standing=copy.standing,
        shared=copy.shared,
        counts=copy.counts,
        libraries=tuple(one_line(str(text), 200) for text in fields.get("libraries", ())),
        summary=one_line(str(fields.get("summary", "")), 300),
        detail=str(fields.get("detail", "")),
        at=str(fields.get("at", "")),
        by={str(name): one_line(str(value), 100) for name, value in dict(fields.get("by", {})).items()},
        superseded_by=tuple(msgspec.json.decode(copy.superseded_by)) if copy.superseded_by else (),
        ended=ended,
    )


def _history(log: Project, id_: str) -> list[dict[str, Any]]:
    query = "SELECT body FROM events WHERE target = ? AND target <> '' ORDER BY at, id"
    return [msgspec.json.decode(body) for (body,) in log.db.execute(query, (id_,))]
