"""`backstory gc`: gives back what derived files no longer need."""

from __future__ import annotations

import os
from collections.abc import Iterable

from backstory.surfaces.cli.commands.status import size_of
from backstory.surfaces.cli.console import line_of
from backstory.surfaces.cli.entries import row
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.cleaning import Cleaned


@make("gc", "backstory gc")
def command(run: Run) -> None:
    """The log and the journal are never touched; how the log grew is said."""
    from backstory.project.cleaning import clean

    cleaned = clean(run.open(), os.environ, os.path.expanduser("~"))
    run.answer(cleaned, lambda: _lines(cleaned))


def _lines(cleaned: Cleaned) -> Iterable[str]:
    yield row("derived files", f"{size_of(cleaned.derived_before)} before, {size_of(cleaned.derived_after)} now")
    yield from (row("removed", line_of(path)) for path in cleaned.removed)
    if cleaned.sessions:
        rest = f"; {cleaned.resting_entries} entries rest on them and say so" if cleaned.resting_entries else ""
        yield row("sessions", f"{len(cleaned.sessions)} dropped, their transcripts are gone{rest}")
    yield row("log", f"{size_of(cleaned.log_bytes)}, journal {size_of(cleaned.journal_bytes)} (never touched)")
    months = list(cleaned.log_growth.items())[-6:]
    if months:
        yield row("grew by", ", ".join(f"{size_of(size)} in {month}" for month, size in months))
