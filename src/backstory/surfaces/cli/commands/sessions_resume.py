"""`backstory sessions resume`: what the next session needs of one that ended."""

from __future__ import annotations

import os

import click

from backstory.surfaces.cli.console import clean, tell
from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sessions import as_it_is, up_to_date


@make("sessions resume", "backstory sessions resume", "backstory sessions resume 1f0c3a9b --budget 1000")
@click.argument("session", required=False, default="", metavar="[SESSION]")
@click.option("--budget", type=Count(150, 20_000), metavar="N", help="Tokens (default 600).")
@as_it_is
def command(run: Run, session: str, budget: int | None, as_is: bool) -> None:
    """The hand-over of SESSION, or of the last one: what was asked and done, what failed, where it stopped."""
    from backstory.project.authority import session_id
    from backstory.project.sessions.resuming import hand_over

    project = up_to_date(run, as_is)
    made = hand_over(project, session, budget=budget or 0, without=session_id(os.environ))
    if made is None:
        run.answer(None, lambda: ())
        if not run.as_json:
            tell("There is no session of this project in the transcripts on this machine.")
        return
    run.answer(made, lambda: [clean(made.text).rstrip("\n")])
