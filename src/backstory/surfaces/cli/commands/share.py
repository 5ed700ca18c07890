"""`backstory share`: offers a lesson to the other projects of this machine."""

from __future__ import annotations

import click

from backstory.surfaces.cli.judging import target
from backstory.surfaces.cli.recording import notes
from backstory.surfaces.cli.running import Run, make


@make("share", "backstory share 7K3QZP", 'backstory share 7K3QZP --library "pydantic@>=2"')
@target
@click.option("--library", "libraries", multiple=True, metavar="NAME[@RANGE]",
              help="The library it is about, where the entry names none. Repeatable.")  # fmt: skip
def command(run: Run, id: str, libraries: tuple[str, ...]) -> None:
    """Projects that depend on the library in those versions see it. A correction or a retirement here follows it."""
    from backstory.project.sharing.sharing import share

    outcome = share(run.open(), run.by(), id, libraries)
    run.answer(outcome, lambda: [f"Shared {outcome.kind} {outcome.id[-6:]}", *notes(outcome)])
