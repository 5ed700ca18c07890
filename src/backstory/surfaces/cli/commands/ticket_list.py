"""`backstory ticket list`: the tickets of the project."""

from __future__ import annotations

from collections.abc import Sequence

import click

from backstory.surfaces.cli.console import line_of, tell
from backstory.surfaces.cli.filters import limit
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.tickets import ticket_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.ticketing import TicketList


@make("ticket list", "backstory ticket list --open", "backstory ticket list --state 'in progress' --kind bug")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Only in this state. Repeatable.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only of this kind. Repeatable.")
@click.option("--open", "open_only", is_flag=True, help="Only what is still to be done.")
@limit(200)
def command(run: Run, states: Sequence[str], kinds: Sequence[str], open_only: bool, limit: int) -> None:
    """Open ones first, by path, with state, kind, priority, what a ticket waits for, and how its last run ended."""
    from backstory.project.ticketing import list_tickets

    found = list_tickets(run.open(), states=states, kinds=kinds, open_only=open_only)
    run.answer(found.tickets[:limit], lambda: ticket_lines(found.tickets[:limit]))
    _tell(found, limit, bool(states or kinds or open_only))


def _tell(found: TicketList, limit: int, filtered: bool) -> None:
    if not found.tickets:
        new = '`backstory ticket new "TITLE"` writes one'
        tell("There is no such ticket." if filtered else f"There is no ticket; {new}.")
    elif len(found.tickets) > limit:
        tell(f"There is more than these {limit}, {len(found.tickets)} in all; `--limit N` shows it.")
    if found.skipped:
        count, first = len(found.skipped), found.skipped[0]
        what = "1 file was" if count == 1 else f"{count} files were"
        tell(f"{what} left out: {line_of(first.file)}: {line_of(first.why)}{' ...' if count > 1 else ''}")
