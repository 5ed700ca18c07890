"""`backstory global verify`: every line of the machine-wide log, read afresh."""

from __future__ import annotations

from backstory.errors import Exit
from backstory.surfaces.cli.commands.verify import _lines
from backstory.surfaces.cli.running import Run, make


@make("global verify", "backstory global verify", project=False)
def command(run: Run) -> int:
    """As `backstory verify`, for what projects share. Exit code 5 when it is not sound."""
    from backstory.project.opened import now_micros
    from backstory.project.sharing.answers import verified

    report = verified(now_micros())
    run.answer(report, lambda: _lines(report))
    return Exit.OK if report.sound else Exit.DAMAGED
