"""`backstory doctor`: whether everything around the memory works."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.errors import Exit
from backstory.surfaces.cli.console import line_of, paint, patience, wrap
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.doctor import DoctorReport

_COLOURS = {"good": "green", "fixed": "green", "advice": "yellow", "bad": "red"}


@make("doctor", "backstory doctor", "backstory doctor --fix")
@click.option("--fix", is_flag=True, help="Mend what can be mended; no readable event is ever removed.")
def command(run: Run, fix: bool) -> int:
    """Each check in a line, and what helps. Exit code 5 when something is bad.

    Reads the whole log, holds derived files against it, and runs each hook and MCP server that is installed once, as
    its client would. Without --fix nothing is changed.
    """
    from backstory.project.doctor import doctor
    from backstory.project.opened import now_micros

    with patience("checking every line and hook"):
        report = doctor(run.start, fix=fix, now=now_micros())
    run.answer(report, lambda: _lines(report))
    return Exit.OK if report.healthy else Exit.DAMAGED


def _lines(report: DoctorReport) -> Iterable[str]:
    for check in report.checks:
        head = f"{paint(f'{check.state:<6}', _COLOURS.get(check.state, 'dim'))}  {check.name:<9} "
        yield head + wrap(line_of(check.message), 18, 18)
        if check.fix:
            yield f"{'':18}{wrap(line_of(check.fix), 18, 18)}"
    yield "Everything works." if report.healthy else "Something needs care; see above."
