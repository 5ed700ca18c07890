"""`backstory fixed`: what ended an issue; it closes the case."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, record, words
from backstory.surfaces.cli.running import Run, make


@make("fixed", 'backstory fixed 7K3QZP "refresh the token with the server\'s clock" --location src/auth.py')
@click.argument("issue")
@words
@click.option("--location", metavar="TEXT", help="Where the fix is.")
@common
def command(run: Run, issue: str, text: tuple[str, ...], **fields: Any) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere such as #717. One case is closed once."""
    record(run, "fix", text, issue=issue, **fields)
