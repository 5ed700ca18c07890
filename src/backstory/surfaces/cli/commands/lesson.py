"""`backstory lesson`: what holds for a library, not only for this project."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, issue_option, record, words
from backstory.surfaces.cli.running import Run, make


@make("lesson", 'backstory lesson "Validators run twice on a union" --library "pydantic@>=2"')
@words
@click.option("--library", "libraries", multiple=True, metavar="NAME[@RANGE]", help="The library. Repeatable.")
@issue_option
@common
def command(run: Run, text: tuple[str, ...], **fields: Any) -> None:
    """TEXT says it in one line; `-` reads it from stdin."""
    record(run, "lesson", text, **fields)
