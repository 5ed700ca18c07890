"""`backstory hypothesis`: a guess at the cause of an issue."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, record, words
from backstory.surfaces.cli.running import Run, make


@make("hypothesis", 'backstory hypothesis 7K3QZP "the clock of the container drifts"')
@click.argument("issue")
@words
@common
def command(run: Run, issue: str, text: tuple[str, ...], **fields: Any) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere such as #717; TEXT is the guess, in one line."""
    record(run, "hypothesis", text, issue=issue, **fields)
