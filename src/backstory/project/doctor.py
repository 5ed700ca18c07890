"""`doctor`: tries everything that the memory rests on, says what to do, and with `fix` does it.

Promise: without `fix` nothing is written but what every reading command writes, the derived files; and no process is
left behind. No client is started.
"""

from __future__ import annotations

import os

import msgspec

from backstory.config import locate, read_marker, state_dir
from backstory.errors import BackstoryError
from backstory.project import integrity, repair
from backstory.project.doctoring import clients, derived, git_hooks, git_state, log_files, machine, secret_scan
from backstory.project.doctoring.finding import BAD, FIXED, Check
from backstory.project.opened import Project
from backstory.project.refresh import open_config
from backstory.project.verifying import Afresh, read_afresh


class DoctorReport(msgspec.Struct, frozen=True):
    """All checks; `healthy` when none is bad."""

    root: str
    healthy: bool
    checks: tuple[Check, ...]


def doctor(start: str, *, fix: bool, now: int) -> DoctorReport:
    """Try the memory around `start`; `BackstoryError` when there is none."""
    places = locate(start)
    if fix:
        _make_state()
    checks = machine.checks()
    healed = repair.heal_marker(places) if fix else ""
    if healed:
        checks.append(Check("settings", FIXED, healed))
    try:
        config = read_marker(places)
    except BackstoryError as error:
        checks.append(Check("settings", BAD, error.message, "`backstory doctor --fix`, or restore the file from git"))
        return DoctorReport(places.root, False, tuple(checks))
    if fix:
        checks += log_files.mended(config, now)
    read = read_afresh(config, now)
    try:
        checks += log_files.checks(config, read)
        with open_config(config, now=now) as project:
            if fix:
                integrity.keep_heads(project, accept=True)
            checks += _of_project(project, read, fix=fix)
    finally:
        read.project.close()
    return DoctorReport(places.root, all(item.state != BAD for item in checks), tuple(checks))


def _of_project(project: Project, read: Afresh, *, fix: bool) -> list[Check]:
    config = project.config
    return [
        *derived.of_index(project, read, fix=fix),
        *derived.of_history(project, fix=fix),
        *git_state.checks(project, fix=fix),
        *git_hooks.checks(config.places, fix=fix),
        *clients.checks(project.root, fix=fix, private=config.private, brief=_has_brief(project)),
        *secret_scan.checks(project),
    ]


def _has_brief(project: Project) -> bool:
    """Whether a session that starts here would be told something."""
    from backstory.project import briefing

    return bool(briefing.brief(project).text)


def _make_state() -> None:
    try:
        os.makedirs(state_dir(), exist_ok=True)
    except OSError:
        return


__all__ = ["Check", "DoctorReport", "doctor"]
