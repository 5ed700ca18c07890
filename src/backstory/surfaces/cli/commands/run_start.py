"""`backstory run start`: begins the run record of a ticket."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.runs import started_lines


@make(
    "run start",
    "backstory run start retry-the-upload",
    "backstory run start back-12 --predict-files 3 --predict-minutes 45 --complexity low",
)
@click.argument("stem", metavar="STEM")
@click.option("--predict-files", "predicted_files", type=Count(0), metavar="N", help="How many files will change.")
@click.option("--predict-minutes", "predicted_minutes", type=Count(0), metavar="N", help="How many minutes it takes.")
@click.option("--complexity", "predicted_complexity", metavar="WORD", help="How hard it looks: low, medium, high.")
@click.option("--estimate", "wall_time_estimate", metavar="TEXT", help="The time it takes as somebody said it.")
@click.option("--model", "model_exact", metavar="NAME", help="The exact model that works on it.")
def command(run: Run, stem: str, **fields: Any) -> None:
    """Start and base commit are filled in. The record lies beside the ticket; after a finished one the next attempt
    begins. A run that is under way is left as it is.
    """
    from backstory.project.running_records import start

    outcome = start(run.open(), stem, fields, cwd=run.cwd)
    run.answer(outcome, lambda: started_lines(outcome))
