"""`backstory lift`: takes a rejection back."""

from __future__ import annotations

import click

from backstory.surfaces.cli.judging import done, why
from backstory.surfaces.cli.recording import notes
from backstory.surfaces.cli.running import Run, make


@make("lift", "backstory lift 7K3QZP", 'backstory lift "The API is rate limited"', "backstory review --rejected")
@click.argument("name", nargs=-1, required=True, metavar="ID|VALUE")
@why("Why it holds after all.")
def command(run: Run, name: tuple[str, ...], reason: str) -> None:
    """ID is the rejected entry's, VALUE the rejected words or the key that `review --rejected` lists."""
    from backstory.project.operations import lift

    project = run.open()
    outcome = lift(project, run.by(), " ".join(name), reason)
    run.answer(
        outcome, lambda: done(project, outcome, "lift") if outcome.id else ["Took back a rejection", *notes(outcome)]
    )
