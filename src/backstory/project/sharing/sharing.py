"""`share` and `unshare`: a person offers an entry to the other projects of this machine, or takes that back."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project import gateway, known, operations
from backstory.project.gateway import Outcome
from backstory.project.opened import Project
from backstory.project.resolve import entry_id
from backstory.project.sharing import machine
from backstory.project.sharing.arriving import dependencies
from backstory.project.sharing.following import copy_of, follow, share_event
from backstory.records.codec import to_fields
from backstory.records.event import PERSON, By
from backstory.records.kinds.lesson import Lesson
from backstory.sources.dependencies.contract import plain_name
from backstory.sources.dependencies.reading import wanted

MOST_OFFERS = 20
# A range alone, or a lone sign, names nothing and would match no project.
_NAME = re.compile(r"@?\w")


class Offer(msgspec.Struct, frozen=True):
    """A failed trial that names a library which the project declares, and the call that would share it."""

    id: str
    summary: str
    libraries: tuple[str, ...]
    call: str


def share(project: Project, by: By, target: str, libraries: Sequence[str] = ()) -> Outcome:
    """Share the entry that `target` names; `libraries` for one that names none. `BackstoryError` when refused."""
    _person(by, "share")
    id_ = entry_id(project.db, target)
    entry, standing = operations.load(project, id_)
    own = entry.libraries if isinstance(entry, Lesson) else ()
    named = tuple(text.strip() for text in (libraries or own) if text.strip())
    _shareable(id_, standing, named)
    fields = to_fields(entry)
    with machine.opened(project.now) as log:
        copy = next(machine.copies(log.db, "e.id = ?", (id_,)), None)
        if copy is not None and copy.counts:
            raise BackstoryError(f"{id_} is shared already.", hint=f"See `backstory global show {id_}`.")
        _record(project, by, {"kind": "share", "target": id_, "libraries": list(named)})
        events = [] if copy is not None else [copy_of(fields, named)]
        machine.write(log, [*events, share_event(project, msgspec.to_builtins(by), id_)])
    # What was said of the entry before it was shared belongs to the copy too.
    follow(project, ())
    known.remember(project.config)
    return Outcome("recorded", id_, entry.kind, standing, notes=(f"shared with projects that use {', '.join(named)}",))


def unshare(project: Project, by: By, target: str) -> Outcome:
    """Take a shared entry back, of this project or of one that is gone."""
    _person(by, "unshare")
    with machine.opened(project.now) as log:
        id_ = entry_id(log.db, target)
        copy = next(machine.copies(log.db, "e.id = ?", (id_,)))
        if not copy.shared:
            raise BackstoryError(f"{id_} is not shared.", hint="`backstory global list` shows what is.")
        origin = project.db.execute("SELECT 1 FROM entries WHERE id = ?", (id_,)).fetchone()
        if origin is not None:
            _record(project, by, {"kind": "share", "target": id_, "undo": True})
        event = share_event(project, msgspec.to_builtins(by), id_, undo=True)
        machine.write(log, [{**event, "project": copy.origin, "name": copy.project}])
    return Outcome("recorded", id_, "lesson", copy.standing, notes=("no other project sees it from now on",))


def offers(project: Project) -> list[Offer]:
    """Failed trials that count, name a declared library, and were not offered to others yet; the newest first."""
    rows = project.db.execute(
        "SELECT e.id, e.summary FROM live AS e WHERE e.kind = 'trial' AND e.outcome <> 'worked' AND e.source = 'log'"
        " AND NOT EXISTS (SELECT 1 FROM events AS s WHERE s.target = e.id AND s.target <> '' AND s.kind = 'share')"
        " ORDER BY e.last_at DESC, e.id LIMIT 500"
    ).fetchall()
    if not rows:
        return []
    found = dependencies(project)
    declared = {name: ecosystem for ecosystem, name in found if len(name) > 1}
    made = []
    for id_, _ in rows:
        entry, _ = operations.load(project, id_)
        words = {word.strip(".,:;()'\"`") for text in entry.prose().values() for word in text.split()}
        spelled = {word.lower() for word in words} | {plain_name("pypi", word) for word in words}
        named = sorted(spelled & declared.keys())
        if named:
            libraries = tuple(f"{declared[name]}:{name}" for name in named[:5])
            options = " ".join(f'--library "{text}"' for text in libraries)
            made.append(Offer(id_, entry.summary, libraries, f"backstory share {id_} {options}"))
        if len(made) == MOST_OFFERS:
            break
    return made


def _record(project: Project, by: By, fields: dict[str, object]) -> None:
    gateway.write(project, [gateway.operation(project, by, fields)])


def _person(by: By, action: str) -> None:
    if by.kind != PERSON:
        raise BackstoryError(
            f"Nothing was written: only a person may {action}, and this was run by {by.name or by.kind}.",
            hint=f"Ask a person to run `backstory {action}` at a terminal.",
            code=Exit.REFUSED,
        )


def _shareable(id_: str, standing: str, libraries: Sequence[str]) -> None:
    if standing not in ("active", "confirmed"):
        raise BackstoryError(
            f"{id_} is {standing}; only what counts without doubt is shared.",
            hint=f"See `backstory show {id_}`.",
            code=Exit.REFUSED,
        )
    if not libraries or not all(_NAME.match(wanted(text).name) for text in libraries):
        raise BackstoryError(
            f"{id_} names no library, so it would match no project.",
            hint=f'Name one: `backstory share {id_} --library "pydantic@>=2"`.',
        )
