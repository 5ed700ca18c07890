"""`backstory projects forget`: takes a project off the list."""

from __future__ import annotations

import click

from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sharing import project_line


@make("projects forget", "backstory projects forget ~/old/project", "backstory projects forget 7K3QZP", project=False)
@click.argument("target", metavar="ID|PATH")
def command(run: Run, target: str) -> None:
    """Its memory stays as it is, and so does what it shared."""
    from backstory.project.registering import forget

    gone = forget(target)
    run.answer(gone, lambda: [f"Forgot {project_line(item)}" for item in gone])
