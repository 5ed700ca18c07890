"""`backstory hot`: a file that bites, or that much depends on."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, issue_option, record, words
from backstory.surfaces.cli.running import Run, make


@make("hot", 'backstory hot src/db.py "every query goes through it; a change needs the slow tests"')
@click.argument("path")
@words
@click.option("--why-hot", metavar="TEXT", help="More on why.")
@issue_option
@common
def command(run: Run, path: str, text: tuple[str, ...], **fields: Any) -> None:
    """PATH is the file, TEXT says in one line why it bites (`-` reads it from stdin)."""
    record(run, "hotfile", text, path=path, **fields)
