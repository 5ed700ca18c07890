"""`backstory history search`: tickets, run records, commits and pull requests by words."""

from __future__ import annotations

from collections.abc import Sequence

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.asking_history import as_it_is, up_to_date
from backstory.surfaces.cli.filters import limit, window
from backstory.surfaces.cli.found import near, print_hits
from backstory.surfaces.cli.input import end_of, start_of
from backstory.surfaces.cli.running import Run, make

SOURCES = ("ticket", "run_record", "commit", "pull_request")


@make(
    "history search",
    "backstory history search retry timeout",
    "backstory history search cache --for src/net.py --source commit",
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS")
@click.option("--source", "sources", multiple=True, type=click.Choice(SOURCES), help="Only these. Repeatable.")
@click.option("--path", metavar="PATH", help="Only what touches this file or folder.")
@near
@window
@as_it_is
@limit(10)
def command(
    run: Run, words: Sequence[str], sources: Sequence[str], path: str | None, files: Sequence[str], since: str | None,
    until: str | None, as_is: bool, limit: int,
) -> None:  # fmt: skip
    """WORDS are plain words, no syntax. What shares files with the present work, and what is recent, comes first."""
    from backstory.project.answers import search

    query = " ".join(words).strip()
    if not query:
        raise BackstoryError("There are no words to search for.", hint="Give a few words of what you look for.")
    project = up_to_date(run, as_is)
    answer = search(
        project,
        query,
        limit=limit,
        sources=sources or SOURCES,
        path=run.inside(path),
        near=[found for file in files if (found := run.inside(file))] or None,
        since=start_of(since, "--since"),
        until=end_of(until, "--until"),
    )
    print_hits(run, answer, limit, "Nothing like that is in the history.")
