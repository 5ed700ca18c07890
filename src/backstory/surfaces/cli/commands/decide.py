"""`backstory decide`: what was decided and why."""

from __future__ import annotations

from typing import Any

import click

from backstory.surfaces.cli.recording import common, issue_option, record, words
from backstory.surfaces.cli.running import Run, make


@make(
    "decide",
    'backstory decide "Use WAL mode" --why "reads go on while we write" -f src/db.py:10-40',
    'backstory decide "Use tabs" --rejected "spaces: nobody agreed on how many"',
    'backstory decide "Retry five times" --supersedes 7K3QZP',
)
@words
@click.option("--why", "--rationale", "rationale", metavar="TEXT", help="The reason.")
@click.option("--rejected", "--alternative", "alternatives_rejected", multiple=True, metavar="TEXT",
              help="What was turned down, and why: `SQL: too slow`. Repeatable.")  # fmt: skip
@issue_option
@common
def command(run: Run, text: tuple[str, ...], **fields: Any) -> None:
    """TEXT says it in one line; `-` reads it from stdin, the first line as summary and the rest as detail."""
    record(run, "decision", text, **fields)
