"""`backstory fixed`: what ended an issue; it closes the case."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import case_words, common, record_in_case
from backstory.surfaces.cli.running import Run, make


@make("fixed", 'backstory fixed 7K3QZP "refresh the token with the server\'s clock" --location src/auth.py')
@case_words
@click.option("--location", metavar="TEXT", help="Where the fix is.")
@common
def command(run: Run, issue: str | None, issue_text: tuple[str, ...], **fields: Any) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere such as #717. One case is closed once."""
    record_in_case(run, "fix", issue, issue_text, **fields)
