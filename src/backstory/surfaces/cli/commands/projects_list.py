"""`backstory projects list`: the projects known on this machine."""

from __future__ import annotations

from backstory.surfaces.cli.console import tell
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sharing import project_line


@make("projects list", "backstory projects list", project=False)
def command(run: Run) -> None:
    """Each with its places. A place that moved, is gone or holds another project now is marked."""
    from backstory.project.registering import listed

    found = listed()
    run.answer(found, lambda: map(project_line, found))
    if not found and not run.as_json:
        tell("No project is known on this machine; `backstory projects scan FOLDER` looks for some.")
