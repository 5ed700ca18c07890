"""`backstory note`: anything else worth a line."""

from __future__ import annotations

from typing import Any

from backstory.surfaces.cli.recording import common, issue_option, record, words
from backstory.surfaces.cli.running import Run, make


@make("note", 'backstory note "The staging host is rebuilt on Mondays"', "make bench 2>&1 | tail -1 | backstory note -")
@words
@issue_option
@common
def command(run: Run, text: tuple[str, ...], **fields: Any) -> None:
    """TEXT says it in one line; `-` reads it from stdin, the first line as summary and the rest as detail."""
    record(run, "note", text, **fields)
