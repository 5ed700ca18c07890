"""`backstory retire`: an entry no longer holds."""

from __future__ import annotations

import click

from backstory.surfaces.cli.judging import operate, target, why
from backstory.surfaces.cli.running import Run, make


@make("retire", 'backstory retire 7K3QZP --why "the module is gone"')
@target
@why("Why it no longer holds (needed).")
@click.option("--successor", metavar="ID", help="The entry that takes its place.")
def command(run: Run, id: str, reason: str, successor: str | None) -> None:
    """It stays findable and tagged, and leaves the brief. What a person confirmed an agent can only put in doubt."""
    operate(run, "retire", id, reason=reason, successor=successor)
