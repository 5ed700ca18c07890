"""What the commands that change a standing share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from backstory.surfaces.cli.console import line_of, paint, wrap
from backstory.surfaces.cli.recording import notes
from backstory.surfaces.cli.running import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.gateway import Outcome
    from backstory.project.opened import Project

F = TypeVar("F", bound=Callable[..., Any])

_DONE = {
    "confirm": "Confirmed",
    "retire": "Retired",
    "reject": "Rejected",
    "lift": "Took back the rejection of",
    "approve": "Approved",
    "contest": "Contested",
    "resolve": "Resolved",
    "redact": "Redacted",
    "supersede": "Superseded",
}

target = click.argument("id", metavar="ID")


def why(what: str) -> Callable[[F], F]:
    """`--why`: the reason, which some operations need."""
    return click.option("--why", "--reason", "reason", default="", metavar="TEXT", help=what)


def operate(run: Run, action: str, id_: str, *, reason: str = "", said: str = "", **extra: Any) -> None:
    """Do an operation and say what became of it."""
    from backstory.project import operations

    project = run.open()
    outcome = operations.operate(project, run.by(), action, id_, reason=reason, **extra)
    run.answer(outcome, lambda: done(project, outcome, said or action))


def done(project: Project, outcome: Outcome, action: str) -> Iterable[str]:
    """`Retired decision 7K3QZP (retired): Use WAL mode`, then the notes."""
    from backstory.project.answers import one_view

    view = one_view(project, outcome.id)
    verb = _DONE[action]
    if action == "retire" and outcome.standing != "retired":
        verb = "Put in doubt"
    head = f"{verb} {view.kind} {paint(view.short, 'bold')} ({view.standing}): "
    yield head + wrap(line_of(view.summary), 2, len(head))
    yield from notes(outcome)
