"""`backstory hypothesis`: a guess at the cause of an issue."""

from __future__ import annotations

from typing import Any

from backstory.surfaces.cli.recording import case_words, common, record_in_case
from backstory.surfaces.cli.running import Run, make


@make("hypothesis", 'backstory hypothesis 7K3QZP "the clock of the container drifts"')
@case_words
@common
def command(run: Run, issue: str | None, issue_text: tuple[str, ...], **fields: Any) -> None:
    """ISSUE is the case's id, or a number that lives elsewhere such as #717; TEXT is the guess, in one line."""
    record_in_case(run, "hypothesis", issue, issue_text, **fields)
