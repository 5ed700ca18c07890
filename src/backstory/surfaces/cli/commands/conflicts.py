"""`backstory conflicts`: entries that say different things."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.surfaces.cli.console import line_of, paint, tell
from backstory.surfaces.cli.entries import entry_line
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import Pair


@make("conflicts", "backstory conflicts")
def command(run: Run) -> None:
    """Both sides, and the call that would resolve it; none is ever resolved silently."""
    from backstory.project.answers import conflicts

    found = conflicts(run.open())
    run.answer(found, lambda: _lines(found))


def _lines(found: list[Pair]) -> Iterable[str]:
    for place, pair in enumerate(found):
        if place:
            yield ""
        yield paint(line_of(pair.why), "yellow")
        yield entry_line(pair.one, "  ")
        yield entry_line(pair.other, "  ")
        yield f"  {pair.call}    (or the other way round, or with --both)"
    if not found:
        tell("No entries contradict each other.")
