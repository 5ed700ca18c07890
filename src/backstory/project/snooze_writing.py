"""Snoozing a warning, and what is snoozed: for people alone, since an agent that silences a check defeats it."""

from __future__ import annotations

import os
import re

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project import snoozing
from backstory.project.checking import person
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.project.resolve import entry_id
from backstory.records import secrets
from backstory.records.event import PERSON, By
from backstory.records.hostile import one_line
from backstory.records.times import format_instant

_SPAN = re.compile(r"(\d{1,5})\s*(m|min|h|d|w)?", re.IGNORECASE)
_MINUTES = {"m": 1, "min": 1, "h": 60, "d": 1_440, "w": 10_080, "": 60}
_MOST_DAYS = 30
_DEFAULT = "2h"
_ID = re.compile(r"[0-9A-Za-z]{6,26}")


class Snoozed(msgspec.Struct, frozen=True):
    """What is snoozed: an entry's id or a path, until when ("" where it warns again), by whom and why."""

    target: str
    summary: str
    until: str
    by: str
    why: str


def snooze(
    project: Project, by: By, target: str, span: str = "", why: str = "", *, off: bool = False, cwd: str = ""
) -> Snoozed:
    """Keep quiet about `target` for `span`, or let it warn again with `off`. `BackstoryError` when it is refused."""
    if by.kind != PERSON:
        raise BackstoryError(
            f"Nothing was snoozed: only a person may silence a warning, and this was run by {by.name}.",
            hint="Ask a person to run `backstory snooze` at a terminal.",
            code=Exit.REFUSED,
        )
    name, summary = _named(project, target, cwd)
    name = _snoozed(project, name) if off else name
    until = 0 if off else project.now + _micros(span or _DEFAULT)
    if not off and not _is_known(project, name):
        raise BackstoryError(
            f"Nothing was snoozed: there is no {name} in this project, and nothing is known about it.",
            hint="Name an entry by its id, or a file or folder that is there; `backstory snooze` lists your own.",
        )
    reason = secrets.redact(one_line(why, 300)).text
    made = snoozing.Snooze(name, until, project.now, person(project), reason)
    try:
        snoozing.keep(project.config.project, made)
    except OSError as error:
        raise BackstoryError(
            f"Nothing was snoozed: {snoozing.place(project.config.project)} cannot be written ({error.strerror}).",
            hint="Give it to you, or set XDG_STATE_HOME to a folder that you can write.",
        ) from error
    return _shown(made, summary)


def listed(project: Project) -> list[Snoozed]:
    """What this person has snoozed, the one that ends first first."""
    me = person(project)
    mine = [one for one in snoozing.active(project.config.project, project.now) if one.by == me]
    return [_shown(one, _summary(project, one.target)) for one in sorted(mine, key=lambda one: (one.until, one.target))]


def _named(project: Project, target: str, cwd: str) -> tuple[str, str]:
    """The whole id with the entry's line, or the path."""
    path = None
    if os.path.lexists(os.path.join(cwd or project.root, target)) or not _ID.fullmatch(target):
        path = relative(project.root, target, cwd)
        if os.path.isdir(os.path.join(project.root, path)):
            path = f"{path}/"
        return path, ""
    id_ = entry_id(project.db, target)
    return id_, _summary(project, id_)


def _snoozed(project: Project, name: str) -> str:
    """The target as it was snoozed: a folder that is gone has no slash now. `BackstoryError` where it was not."""
    mine = [one.target for one in snoozing.active(project.config.project, project.now) if one.by == person(project)]
    found = next((target for target in (name, f"{name}/") if target in mine), None)
    if found is None:
        raise BackstoryError(f"{name} is not snoozed.", hint="`backstory snooze` lists what you snoozed.")
    return found


def _is_known(project: Project, name: str) -> bool:
    """Whether it is an entry's id, or a path that is there, was cited by an entry, or has cited files below it."""
    if os.path.lexists(os.path.join(project.root, name)):
        return True
    query = (
        "SELECT EXISTS (SELECT 1 FROM entries WHERE id = ?1)"
        " OR EXISTS (SELECT 1 FROM entry_files WHERE path = ?1 OR path BETWEEN ?1 || '/' AND ?1 || '0'"
        " OR (cited <> path AND (cited = ?1 OR cited BETWEEN ?1 || '/' AND ?1 || '0')))"
    )
    return bool(project.db.execute(query, (name.rstrip("/"),)).fetchone()[0])


def _summary(project: Project, id_: str) -> str:
    row = project.db.execute("SELECT summary FROM entries WHERE id = ?", (id_,)).fetchone()
    return str(row[0]) if row else ""


def _micros(span: str) -> int:
    found = _SPAN.fullmatch(span.strip())
    minutes = int(found[1]) * _MINUTES[(found[2] or "").lower()] if found else 0
    if not 0 < minutes <= _MOST_DAYS * 1_440:
        raise BackstoryError(
            f"{span[:40]!r} is no time to be quiet for.", hint=f"Say 30m, 2h or 3d, at most {_MOST_DAYS}d."
        )
    return minutes * 60_000_000


def _shown(one: snoozing.Snooze, summary: str) -> Snoozed:
    return Snoozed(one.target, summary, format_instant(one.until) if one.until else "", one.by, one.why)
