"""`backstory review`: what waits for a person."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, say, tell, wrap
from backstory.surfaces.cli.entries import entry_lines
from backstory.surfaces.cli.input import start_of
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project
    from backstory.project.reviewing import Candidate
    from backstory.records.event import By


# Offers that one review names.
_MOST_OFFERED = 5


@make(
    "review",
    "backstory review",
    "backstory review --list --since 2026-06-01",
    "backstory review --json",
    "backstory review --rejected",
)
@click.option("--rejected", is_flag=True, help="List the rejected values instead.")
@click.option("--list", "listed", is_flag=True, help="List what waits, and ask nothing.")
@click.option("--since", metavar="DAY|SESSION", help="List what was added since a day, or in a session.")
@click.option("--plain", is_flag=True, help="Ask line by line, not on the whole screen.")
def command(run: Run, rejected: bool, listed: bool, since: str | None, plain: bool) -> None:
    """At a terminal it shows one after the other, with evidence, clashes and what is similar, and asks.

    Keys: a approve, b both stand, r reject, e edit, m merge, s skip, u undo, o the text around, q quit. Elsewhere it
    lists them, with `--json` with the calls that settle each.
    """
    from backstory.project import answers, reviewing
    from backstory.records.event import PERSON

    project = run.open()
    if rejected:
        stones = answers.tombstones(project)
        run.answer(stones, lambda: _stones(stones))
        return
    if since is not None:
        added = _added(project, since)
        run.answer(added, lambda: entry_lines(added) or ["Nothing was added."])
        return
    by = run.by()
    if run.as_json or listed or by.kind != PERSON:
        queue = reviewing.queue(project)
        run.answer(queue, lambda: _listed(queue))
        if not run.as_json:
            _offer(project)
        return
    ids = [view.id for view in answers.review_queue(project)]
    if not ids:
        say("Nothing waits for a person.")
    else:
        _walk(project, by, ids, plain)
    _offer(project)


def _walk(project: Project, by: By, ids: list[str], plain: bool) -> None:
    from backstory.surfaces.cli.full_screen import possible

    if not plain and possible():
        from backstory.surfaces.cli.review_screen import Screen

        say(Screen(project, by, ids).run())
    else:
        from backstory.surfaces.cli.reviewing import Walk

        Walk(project, by).walk(ids)


def _offer(project: Project) -> None:
    """Say which failed trials may be of use to other projects. Nothing is shared by itself."""
    from backstory.project.sharing.sharing import offers

    found = offers(project)
    if found:
        tell("These failed trials name a library of this project. If one holds wherever it is used, share it:")
    for one in found[:_MOST_OFFERED]:
        tell(f"  {line_of(one.summary)}: `{line_of(one.call)}`")


def _added(project: Project, since: str) -> list[Candidate]:
    """What was added since a day, or, where the words are no day, in the session of that id."""
    from backstory.project.reviewing import added

    if re.match(r"\d{4}-\d\d-\d\d(T|$)", since):
        return added(project, since=start_of(since, "--since"))
    return added(project, session=since)


def _listed(queue: list[Candidate]) -> Iterable[str]:
    yield from entry_lines(queue)
    if queue:
        tell("A person decides at a terminal: `backstory review`, or `backstory approve ID` and `backstory reject ID`.")
    else:
        tell("Nothing waits for a person.")


def _stones(stones: list[dict[str, object]]) -> Iterable[str]:
    from backstory.records.times import format_date

    for stone in stones:
        name = str(stone["entry"])[-6:] or "value "
        who = f" by {stone['by']}" if stone["by"] else ""
        head = f"{name}  {format_date(int(str(stone['at'])))}  "
        yield head + wrap(line_of(f"{stone['value']} (rejected{who}: {stone['reason']})"), len(head), len(head))
    if stones:
        tell("A person takes one back with `backstory lift ID`, or with the words of the value.")
    else:
        tell("No value is rejected.")
