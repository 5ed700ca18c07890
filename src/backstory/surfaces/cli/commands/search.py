"""`backstory search`: the memory by words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import line_of, paint, tell, wrap
from backstory.surfaces.cli.entries import entry_line
from backstory.surfaces.cli.filters import kinds, limit, moments, window
from backstory.surfaces.cli.input import end_of, start_of
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import SearchAnswer

_EVERY = ("proposed", "active", "confirmed", "contested", "superseded", "retired", "rejected", "expired")


@make("search", "backstory search wal mode", 'backstory search "token refresh" --kind trial --path src/auth',
      "backstory search retry --as-of 2026-06-30")  # fmt: skip
@click.argument("words", nargs=-1, required=True, metavar="WORDS")
@kinds
@click.option("--standing", "standings", multiple=True, type=click.Choice(_EVERY), metavar="STANDING",
              help="Only this standing. Repeatable. Default: what counts now.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Whatever the standing; tags say what does not hold.")
@click.option("--path", metavar="PATH", help="Only what cites this file or folder.")
@window
@moments
@limit(10)
def command(
    run: Run, words: Sequence[str], kinds: Sequence[str], standings: Sequence[str], everything: bool, path: str | None,
    since: str | None, until: str | None, as_of: str | None, known_at: str | None, limit: int,
) -> None:  # fmt: skip
    """WORDS are plain words, no syntax; all of them first, any of them when nothing has all."""
    from backstory.project.answers import search

    query = " ".join(words).strip()
    if not query:
        raise BackstoryError("There are no words to search for.", hint="`backstory timeline` lists every entry.")
    project = run.open()
    answer = search(
        project,
        query,
        limit=limit,
        kinds=kinds,
        standings=_EVERY if everything else standings,
        path=run.inside(path),
        since=start_of(since, "--since"),
        until=end_of(until, "--until"),
        as_of=end_of(as_of, "--as-of"),
        known_at=end_of(known_at, "--known-at"),
    )
    run.answer(answer, lambda: _lines(answer, limit))


def _lines(answer: SearchAnswer, limit: int) -> Iterable[str]:
    for hit in answer.hits:
        if hit.entry is not None:
            yield entry_line(hit.entry)
        else:
            text = f"{hit.title} — {hit.snippet}" if hit.snippet and hit.snippet != hit.title else hit.title
            head = f"{hit.source} {hit.ref}  "
            yield head + wrap(line_of(text), 4, len(head))
    for item in answer.instead:
        asked = item.asked
        text = f"{asked.short} {line_of(asked.summary)} ({line_of(item.why)})"
        yield f"{paint('No longer holds:', 'yellow')} {wrap(text, 2, 17)}"
        for view in item.holds:
            if view.id != asked.id:
                yield entry_line(view, "  what holds instead: ")
    if not answer.hits and not answer.instead:
        tell("Nothing was found that counts now; `--all` searches whatever the standing.")
    if answer.more:
        tell(f"There is more than these {limit}; `--limit N` shows it.")
