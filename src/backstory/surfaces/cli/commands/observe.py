"""`backstory observe`: an observation about an open issue."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import case_words, common, record_in_case
from backstory.surfaces.cli.running import Run, make


@make("observe", 'backstory observe 7K3QZP "only with two workers"', 'backstory observe "#717" "gone on Python 3.13"')
@case_words
@click.option("--observation", metavar="TEXT", help="More on what was seen.")
@common
def command(run: Run, issue: str | None, issue_text: tuple[str, ...], **fields: Any) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere such as #717; TEXT says what was seen."""
    record_in_case(run, "issuenote", issue, issue_text, **fields)
