"""`backstory issue`: opens a case."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, record, words
from backstory.surfaces.cli.running import Run, make


@make("issue", 'backstory issue "Login fails after midnight" --location "auth.py, token refresh" -f src/auth.py')
@words
@click.option("--location", metavar="TEXT", help="Where it shows.")
@common
def command(run: Run, text: tuple[str, ...], **fields: Any) -> None:
    """TEXT says in one line what is wrong (`-` reads it from stdin). The id that is printed names the case."""
    record(run, "issue", text, **fields)
