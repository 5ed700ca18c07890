"""`backstory search`: the memory by words."""

from __future__ import annotations

from collections.abc import Sequence

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.asking_history import Counter
from backstory.surfaces.cli.filters import kinds, limit, moments, window
from backstory.surfaces.cli.found import near, print_hits
from backstory.surfaces.cli.input import end_of, start_of
from backstory.surfaces.cli.running import Run, make

_SOURCES = ("entry", "ticket", "run_record", "commit", "pull_request", "session", "lesson")
_EVERY = ("proposed", "active", "confirmed", "contested", "superseded", "retired", "rejected", "expired")


@make("search", "backstory search wal mode", 'backstory search "token refresh" --kind trial --path src/auth',
      "backstory search retry --as-of 2026-06-30")  # fmt: skip
@click.argument("words", nargs=-1, required=True, metavar="WORDS")
@kinds
@click.option("--standing", "standings", multiple=True, type=click.Choice(_EVERY), metavar="STANDING",
              help="Only this standing. Repeatable. Default: what counts now.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Whatever the standing; tags say what does not hold.")
@click.option("--source", "sources", multiple=True, type=click.Choice(_SOURCES), metavar="SOURCE",
              help="Only entry, ticket, run_record, commit, pull_request, session or lesson. Repeatable.")  # fmt: skip
@click.option("--path", metavar="PATH", help="Only what cites this file or folder.")
@near
@window
@moments
@limit(10)
def command(
    run: Run, words: Sequence[str], kinds: Sequence[str], standings: Sequence[str], everything: bool,
    sources: Sequence[str], path: str | None, files: Sequence[str], since: str | None, until: str | None,
    as_of: str | None, known_at: str | None, limit: int,
) -> None:  # fmt: skip
    """WORDS are plain words, no syntax; all of them first, any of them when nothing has all."""
    from backstory.project.answers import search
    from backstory.project.history.catch_up import catch_up_search

    query = " ".join(words).strip()
    if not query:
        raise BackstoryError("There are no words to search for.", hint="`backstory timeline` lists every entry.")
    project = run.open()
    with Counter() as counter:
        catch_up_search(project, progress=counter)
    answer = search(
        project,
        query,
        limit=limit,
        kinds=kinds,
        standings=_EVERY if everything else standings,
        sources=sources,
        path=run.inside(path),
        near=[found for file in files if (found := run.inside(file))] or None,
        since=start_of(since, "--since"),
        until=end_of(until, "--until"),
        as_of=end_of(as_of, "--as-of"),
        known_at=end_of(known_at, "--known-at"),
    )
    print_hits(run, answer, limit, "Nothing was found that counts now; `--all` searches whatever the standing.")
