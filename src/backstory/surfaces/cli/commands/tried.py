"""`backstory tried`: what was tried, and how it ended."""

from __future__ import annotations

from typing import Any

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.recording import common, issue_option, record, words
from backstory.surfaces.cli.running import Run, make


@make(
    "tried",
    'backstory tried "Cache the parser" --failed "stale after reload" -f src/parse.py#load',
    'backstory tried "Pool of 8 workers" --worked --command "make bench"',
)
@words
@click.option("--failed", metavar="HOW", help="It failed, and how.")
@click.option("--partial", is_flag=True, help="It worked in part.")
@click.option("--worked", is_flag=True, help="It worked.")
@click.option("--outcome", type=click.Choice(["failed", "partial", "worked"]), help="The same in one word.")
@click.option("--failure-mode", "--how", "failure_mode", metavar="TEXT", help="What went wrong.")
@click.option("--command", metavar="TEXT", help="The command that was run.")
@issue_option
@common
def command(
    run: Run, text: tuple[str, ...], failed: str | None, partial: bool, worked: bool, outcome: str | None, **fields: Any
) -> None:
    """TEXT says what was tried, in one line (`-` reads it from stdin). Without an outcome it failed."""
    said = {name for name, given in (("failed", failed), ("partial", partial), ("worked", worked)) if given}
    said |= {outcome} if outcome else set()
    # What went wrong may be told of a partial success too.
    if len(said - {"failed"}) > 1 or (failed and "worked" in said):
        raise BackstoryError(
            "A trial ends in one way.", hint='Give one of `--failed "how"`, `--partial` and `--worked`.'
        )
    fields["failure_mode"] = failed or fields["failure_mode"]
    record(run, "trial", text, outcome=max(said - {"failed"}, default="failed"), **fields)
