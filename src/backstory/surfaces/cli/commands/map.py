"""`backstory map`: what the project is made of."""

from __future__ import annotations

from backstory.surfaces.cli.console import line_of, paint, patience, wrap
from backstory.surfaces.cli.running import Run, make


@make("map", "backstory map", "backstory map --json")
def command(run: Run) -> None:
    """Languages, packages, entry points, commands for test and build, and the biggest folders: made from the commit's
    files and from the manifests, so that nobody has to keep it.
    """
    from backstory.project.mapping.answer import lines
    from backstory.project.mapping.making import project_map

    project = run.open()
    with patience("listing the files of the commit"):
        found = project_map(project)
    run.answer(found, lambda: map(_painted, lines(found)))


def _painted(line: str) -> str:
    topic, found, rest = line.partition(": ")
    if not found:
        return paint(line_of(line), "bold")
    return f"{paint(f'{topic:<13}', 'dim')}{wrap(line_of(rest), 13, 13)}"
