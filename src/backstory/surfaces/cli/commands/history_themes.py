"""`backstory history themes`: what recurs in run records and in trials."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.asking_history import as_it_is, up_to_date
from backstory.surfaces.cli.console import line_of, paint, tell, wrap
from backstory.surfaces.cli.filters import Count, limit
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.history.asking import Theme


@make("history themes", "backstory history themes", "backstory history themes --members 10")
@click.option("--members", type=Count(0, 1_000), default=3, metavar="N", help="Show N members of each (default 3).")
@as_it_is
@limit(20)
def command(run: Run, members: int, as_is: bool, limit: int) -> None:
    """Groups of texts that are about the same trouble, the largest first, and whether it is new, growing or quiet."""
    from backstory.project.history.asking import themes

    found = themes(up_to_date(run, as_is), limit=limit + 1, members=members)
    shown = found[:limit]
    run.answer(shown, lambda: _lines(shown))
    if not shown and not run.as_json:
        tell("There are no themes: it takes three run records or trials that are about the same thing.")
    if len(found) > limit:
        tell(f"There are more than these {limit}; `--limit N` shows them.")


def _lines(found: list[Theme]) -> Iterable[str]:
    for theme in found:
        span = f"{theme.first_at[:10]} to {theme.last_at[:10]}" if theme.first_at else "undated"
        yield f"{paint(line_of(theme.label), 'bold')}  {theme.size} records, {theme.drift}, {span}"
        for member in theme.members:
            ref = member["ref"] if member["source"] == "run_record" else f"trial {str(member['ref'])[-6:]}"
            yield wrap(line_of(f"    {ref}"), 6)
