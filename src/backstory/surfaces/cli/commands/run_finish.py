"""`backstory run finish`: fills in the run record of a ticket."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.console import patience
from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.runs import finished_lines


@make(
    "run finish",
    "backstory run finish retry-the-upload --outcome done",
    'backstory run finish back-12 --outcome failed --dead-ends "A lock file: it stays when a process dies."',
)
@click.argument("stem", metavar="STEM")
@click.option("--outcome", metavar="WORD", help="How it ended: done, partial, failed, abandoned.")
@click.option("--complexity", metavar="WORD", help="How hard it was.")
@click.option("--surprises", "surprises_text", metavar="TEXT", help="What surprised, and what was decided on the way.")
@click.option("--dead-ends", "dead_ends_text", metavar="TEXT", help="What did not work.")
@click.option("--escalation", "escalation_reason", metavar="TEXT", help="Why it went to somebody else.")
@click.option("--review-iterations", type=Count(0), metavar="N", help="How often it went through review.")
@click.option("--tokens-in", type=Count(0), metavar="N", help="Tokens read.")
@click.option("--tokens-out", type=Count(0), metavar="N", help="Tokens written.")
@click.option("--tool-calls", type=Count(0), metavar="N", help="Calls of tools.")
@click.option("--model", "model_exact", metavar="NAME", help="The exact model that worked on it.")
def command(run: Run, stem: str, **fields: Any) -> None:
    """End, minutes, and the number of files that differ from the base commit are filled in. What a record says
    already is never changed, so a second call only adds what is still empty.
    """
    from backstory.project.running_records import finish

    project = run.open()
    with patience("comparing the tree with the base commit"):
        outcome = finish(project, stem, fields, cwd=run.cwd)
    run.answer(outcome, lambda: finished_lines(outcome))
