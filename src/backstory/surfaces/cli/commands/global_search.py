"""`backstory global search`: what was shared on this machine, by words."""

from __future__ import annotations

import click

from backstory.surfaces.cli.filters import limit
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sharing import print_lessons, warn


@make("global search", "backstory global search validators union", project=False)
@click.argument("words", nargs=-1, required=True, metavar="WORDS")
@click.option("--all", "everything", is_flag=True, help="What was withdrawn too.")
@limit(20)
def command(run: Run, words: tuple[str, ...], everything: bool, limit: int) -> None:
    """The best first. What was never shared is not in it."""
    from backstory.project.opened import now_micros
    from backstory.project.sharing.answers import listed

    now = now_micros()
    found = listed(now, everything=everything, words=" ".join(words), limit=limit)
    print_lessons(run, found, "Nothing that is shared on this machine says so.")
    warn(now)
