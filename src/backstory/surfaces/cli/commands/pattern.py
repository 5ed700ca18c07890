"""`backstory pattern`: a way of doing things that recurs."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, issue_option, record, words
from backstory.surfaces.cli.running import Run, make


@make(
    "pattern",
    'backstory pattern "Errors carry a hint" --example "raise AppError(message, hint=...)" -f src/errors.py',
    'backstory pattern "Repository per aggregate" --description "no SQL outside of repositories"',
)
@words
@click.option("--name", metavar="NAME", help="A short name, when TEXT is a sentence.")
@click.option("--description", metavar="TEXT", help="What the pattern is, when TEXT is its name.")
@click.option("--example", "examples", multiple=True, metavar="TEXT", help="How it looks. Repeatable.")
@issue_option
@common
def command(run: Run, text: tuple[str, ...], **fields: Any) -> None:
    """TEXT is the pattern's name or says it in one line; `-` reads it from stdin."""
    record(run, "pattern", text, **fields)
