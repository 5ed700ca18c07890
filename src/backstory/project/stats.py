"""Measures of the memory at work: counts of what was really seen, and nothing that was not.

What a session was given, and what it did after a warning, stands in small files that the hooks write, kept for three
months on this machine. No hours or money are made up: whether a warning saved anything nobody can know; it is said how
often a later edit of the same file followed it.
"""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Iterator

import msgspec

from backstory.project import snoozing
from backstory.project.opened import Project
from backstory.project.session_file import FOLDER, FOLLOWED, GIVEN, KEPT_DAYS, REFUSED, TOLD, WARNED
from backstory.recall import live

_DAY = 86_400_000_000


class Stats(msgspec.Struct, frozen=True):
    """Figures of one project.

    `entries` are counts by kind and standing. The others are of the sessions of the last `days` days on this machine:
    tokens that were given to a session (median and most, and all by what they were: brief, notes, warning), `lines`
    that were given (an entry counts once per session), their age in days (median), and the shares of the entries
    behind them that were confirmed or withdrawn since. `warnings`: given, followed by a later edit of the same file
    that brought nothing back, refused edits, and dismissed (snoozed by a person, each with its reason).
    """

    entries: dict[str, dict[str, int]]
    days: int
    sessions: int
    tokens_median: int
    tokens_most: int
    tokens: dict[str, int]
    lines: int
    age_days_median: float | None
    confirmed_since: int
    withdrawn_since: int
    warnings: int
    followed: int
    refused: int
    dismissed: int
    dismissals: tuple[str, ...]


class _Session(msgspec.Struct):
    """What the file of one session says."""

    at: int
    given: Counter[str]
    told: list[str]
    warned: int = 0
    followed: int = 0
    refused: int = 0


def stats(project: Project) -> Stats:
    """Count."""
    sessions = list(_sessions(project))
    given: Counter[str] = Counter()
    for one in sessions:
        given.update(one.given)
    totals = [sum(one.given.values()) for one in sessions if one.given]
    lines = [(one.at, id_) for one in sessions for id_ in one.told]
    ages, confirmed, withdrawn = _fate(project, lines)
    dismissed = _dismissed(project)
    return Stats(
        entries=_entries(project),
        days=KEPT_DAYS,
        sessions=len(sessions),
        tokens_median=int(statistics.median(totals)) if totals else 0,
        tokens_most=max(totals, default=0),
        tokens=dict(sorted(given.items())),
        lines=len(lines),
        age_days_median=round(statistics.median(ages), 1) if ages else None,
        confirmed_since=confirmed,
        withdrawn_since=withdrawn,
        warnings=sum(one.warned for one in sessions),
        followed=sum(one.followed for one in sessions),
        refused=sum(one.refused for one in sessions),
        dismissed=len(dismissed),
        dismissals=tuple(dismissed[-5:]),
    )


def _entries(project: Project) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    query = f"SELECT e.kind, e.standing, count(*) FROM entries AS e WHERE {live.LOGGED} GROUP BY 1, 2 ORDER BY 1, 2"
    for kind, standing, count in project.db.execute(query):
        found.setdefault(kind, {})[standing] = count
    return found


def _sessions(project: Project) -> Iterator[_Session]:
    folder = os.path.join(project.config.places.derived_dir, FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".txt"))
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        one = _session(text)
        if one.given or one.warned or one.refused:
            yield one


def _session(text: str) -> _Session:
    one = _Session(0, Counter(), [])
    told: dict[str, None] = {}
    open_: set[str] = set()
    for line in text.split("\n"):
        word, _, value = line.partition("\t")
        parts = value.split(" ", 2)
        if word == GIVEN and len(parts) == 3 and parts[0].isdigit() and parts[2].isdigit():
            one.at = one.at or int(parts[0])
            one.given[parts[1]] += int(parts[2])
        elif word == TOLD and len(parts) > 1 and parts[1].lstrip("-").isdigit():
            told[parts[0]] = None
        elif word == WARNED and len(parts) == 3:
            one.warned += 1
            open_.add(parts[2])
        elif word == FOLLOWED and len(parts) > 1:
            path = value.split(" ", 1)[1]
            one.followed += path in open_
            open_.discard(path)
        elif word == REFUSED:
            one.refused += 1
    one.told = list(told)
    return one


def _fate(project: Project, lines: list[tuple[int, str]]) -> tuple[list[float], int, int]:
    """The age of each line when it was given, in days; how many were confirmed since, and how many withdrawn."""
    ages, confirmed, withdrawn = [], 0, 0
    for at, id_ in lines:
        row = project.db.execute("SELECT at, last_at, standing, ended_at FROM entries WHERE id = ?", (id_,)).fetchone()
        if row is None:
            continue
        ages.append(max(0, at - row[0]) / _DAY)
        confirmed += row[1] > at
        withdrawn += row[2] in ("retired", "rejected", "superseded")
    return ages, confirmed, withdrawn


def _dismissed(project: Project) -> list[str]:
    """The reasons that people gave when they silenced a warning, the oldest first."""
    try:
        with open(snoozing.place(project.config.project), encoding="utf-8", errors="replace") as file:
            rows = [line.split("\t") for line in file.read().split("\n")]
    except OSError:
        return []
    return [row[4] for row in rows if len(row) == 5 and row[0].isdigit() and int(row[0]) > 0]
