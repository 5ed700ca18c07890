"""`backstory case`: an issue with all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, paint
from backstory.surfaces.cli.entries import entry_lines, full
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import Case


@make("case", "backstory case 7K3QZP", 'backstory case "#717"')
@click.argument("issue")
def command(run: Run, issue: str) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere; what belongs to it follows, oldest first."""
    from backstory.project.answers import case

    answer = case(run.open(), issue)
    run.answer(answer, lambda: _lines(answer))


def _lines(answer: Case) -> Iterable[str]:
    status = paint(answer.status, "green" if answer.status == "closed" else "yellow")
    if answer.issue is None:
        yield f"issue {paint(line_of(answer.ref), 'bold')}  {status} (it lives elsewhere)"
    else:
        yield f"case {paint(answer.issue.short, 'bold')}  {status}"
        yield from full(answer.issue)
    if answer.entries:
        yield ""
        yield from entry_lines(answer.entries)
