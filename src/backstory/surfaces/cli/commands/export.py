"""`backstory export`: the memory written out."""

from __future__ import annotations

import click

from backstory.surfaces.cli.console import clean, say
from backstory.surfaces.cli.running import Run, make


@make("export", "backstory export > memory.md", "backstory export --all --format jsonl > memory.jsonl")
@click.option("--format", "form", type=click.Choice(["json", "jsonl", "markdown"]),
              help="json, jsonl (the log's own lines) or markdown (default).")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Whatever the standing, tagged, with the operations.")
def command(run: Run, form: str | None, everything: bool) -> None:
    """Only what counts now in this tree, unless `--all`. `backstory import` reads json and jsonl back in."""
    from backstory.project import exporting

    project = run.open()
    form = form or ("json" if run.as_json else "markdown")
    if form == "json":
        run.json(exporting.export(project, everything=everything))
    elif form == "jsonl":
        for line in exporting.lines(project, everything=everything):
            say(line)
    else:
        for text in exporting.markdown(project, everything=everything):
            say(clean(text))
