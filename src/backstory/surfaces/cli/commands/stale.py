"""`backstory stale`: entries under which the ground has moved."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.surfaces.cli.console import patience, tell
from backstory.surfaces.cli.entries import entry_lines
from backstory.surfaces.cli.filters import limit
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View


@make("stale", "backstory stale")
@limit(200)
def command(run: Run, limit: int) -> None:
    """Longest unconfirmed first, each with its reasons. They are withheld from the brief until confirmed."""
    from backstory.project.answers import stale

    project = run.open()
    with patience("looking at every cited file"):
        found = stale(project, limit=limit)
    run.answer(found, lambda: _lines(found))


def _lines(found: list[View]) -> Iterable[str]:
    yield from entry_lines(found)
    if found:
        tell('`backstory confirm ID` if it still holds; else `backstory retire ID --why "reason"`.')
    else:
        tell("No entry is stale.")
