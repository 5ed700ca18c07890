"""`backstory projects scan`: looks for projects below a folder."""

from __future__ import annotations

import click

from backstory.errors import BackstoryError, Exit
from backstory.surfaces.cli.console import patience, say, tell
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sharing import project_line


@make("projects scan", "backstory projects scan ~/src", "backstory projects scan ~/src --yes", project=False)
@click.argument("folder", metavar="FOLDER")
@click.option("--yes", is_flag=True, help="Put all that is found on the list without asking.")
def command(run: Run, folder: str, yes: bool) -> None:
    """Asks before it puts anything on the list. Hidden folders and those of other people's code are left out."""
    from backstory.project.authority import at_terminal
    from backstory.project.registering import keep, scan
    from backstory.records.event import PERSON

    with patience("looking for projects"):
        found = scan(folder)
    if found and not yes:
        if run.as_json or at_terminal().kind != PERSON:
            raise BackstoryError(
                f"{len(found)} projects were found, and nobody is here to ask.",
                hint=f"`backstory projects scan {folder} --yes` puts them on the list.",
                code=Exit.REFUSED,
            )
        for item in found:
            say(project_line(item))
        if not click.confirm(f"Put these {len(found)} on the list?", default=False, err=True):
            return
    keep(found)
    run.answer(found, lambda: [f"Listed {project_line(item)}" for item in found])
    if not found and not run.as_json:
        tell("No project was found that is not on the list.")
