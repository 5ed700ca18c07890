"""`backstory observe`: an observation about an open issue."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, record, words
from backstory.surfaces.cli.running import Run, make


@make("observe", 'backstory observe 7K3QZP "only with two workers"', 'backstory observe "#717" "gone on Python 3.13"')
@click.argument("issue")
@words
@click.option("--observation", metavar="TEXT", help="More on what was seen.")
@common
def command(run: Run, issue: str, text: tuple[str, ...], **fields: Any) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere such as #717; TEXT says what was seen."""
    record(run, "issuenote", text, issue=issue, **fields)
