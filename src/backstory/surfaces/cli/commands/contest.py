"""`backstory contest`: an entry is in doubt."""

from __future__ import annotations

import click

from backstory.surfaces.cli.judging import operate, target, why
from backstory.surfaces.cli.running import Run, make


@make("contest", 'backstory contest 7K3QZP --why "the test shows the opposite"')
@target
@why("What speaks against it (needed).")
@click.option("--against", metavar="ID", help="The entry that it clashes with.")
def command(run: Run, id: str, reason: str, against: str | None) -> None:
    """Both sides stay visible until a person resolves it."""
    operate(run, "contest", id, reason=reason, against=against)
