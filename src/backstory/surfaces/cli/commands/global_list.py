"""`backstory global list`: what was shared on this machine."""

from __future__ import annotations

import click

from backstory.surfaces.cli.filters import limit
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sharing import print_lessons, warn


@make("global list", "backstory global list", "backstory global list --all", project=False)
@click.option("--all", "everything", is_flag=True, help="What was withdrawn too.")
@limit(50)
def command(run: Run, everything: bool, limit: int) -> None:
    """The newest first, whichever project it comes from."""
    from backstory.project.opened import now_micros
    from backstory.project.sharing.answers import listed

    now = now_micros()
    print_lessons(run, listed(now, everything=everything, limit=limit), "Nothing is shared on this machine.")
    warn(now)
