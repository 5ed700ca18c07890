"""`backstory snooze`: keep one warning quiet for a while, for yourself alone."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, paint
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.snooze_writing import Snoozed


@make(
    "snooze", 'backstory snooze 7K3QZP --for 2h --why "moving the module today"', "backstory snooze src/db.py --for 1d",
    "backstory snooze 7K3QZP --off",
)  # fmt: skip
@click.argument("target", metavar="ID|PATH", required=False)
@click.option("--for", "span", metavar="TIME", default="", help="How long: 30m, 2h, 3d (at most 30d; default: 2h).")
@click.option("--why", metavar="TEXT", default="", help="Why; it is kept with your name.")
@click.option("--off", is_flag=True, help="Let it warn again.")
def command(run: Run, target: str | None, span: str, why: str, off: bool) -> None:
    """A check goes on counting it, in one dim line. It is kept in your own state folder: nobody else is silenced.
    Without ID or PATH the command lists what you snoozed."""
    from backstory.project import snooze_writing as writing

    project = run.open()
    if target is None:
        listed = writing.listed(project)
        run.answer(listed, lambda: _lines(listed) if listed else ["Nothing is snoozed."])
        return
    done = writing.snooze(project, run.by(), target, span, why, off=off, cwd=run.cwd)
    run.answer([done], lambda: _lines([done]))


def _lines(snoozed: list[Snoozed]) -> Iterable[str]:
    for one in snoozed:
        what = f"{one.target} {one.summary}".strip()
        if one.until:
            why = f" ({one.why})" if one.why else ""
            yield line_of(f"{what}: quiet for {one.by or 'you'} until {one.until[:16].replace('T', ' ')} UTC{why}")
        else:
            yield f"{line_of(what)}: {paint('warns again', 'bold')}"
