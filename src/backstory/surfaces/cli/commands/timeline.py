"""`backstory timeline`: entries, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from backstory.surfaces.cli.console import tell
from backstory.surfaces.cli.entries import entry_lines
from backstory.surfaces.cli.filters import kinds, limit, moments, window
from backstory.surfaces.cli.input import end_of, start_of
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View


@make("timeline", "backstory timeline --kind decision --limit 20", "backstory timeline --since 2026-06-01",
      "backstory timeline --as-of 2026-06-30")  # fmt: skip
@kinds
@window
@moments
@click.option("--session", default="", metavar="ID", help="Only what this session recorded.")
@limit(50)
def command(
    run: Run, kinds: Sequence[str], since: str | None, until: str | None, as_of: str | None, known_at: str | None,
    session: str, limit: int,
) -> None:  # fmt: skip
    """Whatever the standing, which the tags say; at another time only what held then."""
    from backstory.project.answers import timeline

    found = timeline(
        run.open(),
        limit=limit + 1,
        kinds=kinds,
        since=start_of(since, "--since"),
        until=end_of(until, "--until"),
        as_of=end_of(as_of, "--as-of"),
        known_at=end_of(known_at, "--known-at"),
        session=session,
    )
    run.answer(found[:limit], lambda: _lines(found, limit))


def _lines(found: list[View], limit: int) -> Iterable[str]:
    yield from entry_lines(found[:limit])
    if not found:
        tell("There is no such entry.")
    elif len(found) > limit:
        tell(f"There is more than these {limit}; `--limit N` shows it.")
