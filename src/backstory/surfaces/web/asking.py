"""What a view is given, and what it gives back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from backstory.errors import BackstoryError, Exit
from backstory.project.opened import Project
from backstory.project.reviewing import Decision
from backstory.records.event import PERSON, By
from backstory.surfaces.web.jobs import Jobs

PER_PAGE = 50


@dataclass
class Desk:
    """What one run of the server keeps: where it stands, who decides, and what was decided since it started."""

    start: str
    by: By
    csrf: str
    done: list[Decision] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    jobs: Jobs = field(default_factory=Jobs)
    # One change at a time: a second click waits for the first.
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def may_change(self) -> bool:
        """Whether a person started this server at a terminal: else it shows and changes nothing."""
        return self.by.kind == PERSON


@dataclass(frozen=True)
class Ask:
    """One request: the open project, the parts of the path, the query, the form."""

    project: Project
    desk: Desk
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str, usual: int, most: int) -> int:
        """A whole number of the query from 1 to `most`."""
        text = self.query.get(name, "").strip()
        if not text:
            return usual
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= most:
            raise BackstoryError(f"{text[:20]!r} is no number from 1 to {most:,}.", hint="Leave it out.")
        return int(text)


class Shown(NamedTuple):
    """A page: its template, its title and what the template is filled with."""

    template: str
    title: str
    data: dict[str, Any]


class View(NamedTuple):
    """A route that shows something. `name` stands in the navigation unless it is ""."""

    path: str
    name: str
    show: Callable[[Ask], Shown]


class Action(NamedTuple):
    """A route that changes something: it gives the address to go on at."""

    path: str
    do: Callable[[Ask], str]


def person_only(ask: Ask) -> None:
    """`BackstoryError` where the server was not started by a person."""
    if not ask.desk.may_change:
        raise BackstoryError(
            f"Nothing was changed: this page was started by {ask.desk.by.name}, not by a person at a terminal.",
            hint="Run `backstory web` at a terminal of your own, and open the address that it prints.",
            code=Exit.REFUSED,
        )
