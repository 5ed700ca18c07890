"""`backstory review`: what waits for a person."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, say, tell, wrap
from backstory.surfaces.cli.entries import entry_lines
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View


@make("review", "backstory review", "backstory review --rejected")
@click.option("--rejected", is_flag=True, help="List the rejected values instead.")
@click.option("--list", "listed", is_flag=True, help="List what waits, and ask nothing.")
def command(run: Run, rejected: bool, listed: bool) -> None:
    """At a terminal it shows one after the other, with evidence and clashes, and asks.

    Keys: a approve, r reject, e edit, s skip, u undo the last one, q quit. Elsewhere it lists them.
    """
    from backstory.project import answers
    from backstory.records.event import PERSON

    project = run.open()
    if rejected:
        stones = answers.tombstones(project)
        run.answer(stones, lambda: _stones(stones))
        return
    queue = answers.review_queue(project)
    by = run.by()
    if run.as_json or listed or by.kind != PERSON:
        run.answer(queue, lambda: _listed(queue))
    elif not queue:
        say("Nothing waits for a person.")
    else:
        from backstory.surfaces.cli.reviewing import Review

        Review(project, by).walk([view.id for view in queue])


def _listed(queue: list[View]) -> Iterable[str]:
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
