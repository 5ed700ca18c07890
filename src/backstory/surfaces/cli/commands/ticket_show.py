"""`backstory ticket show`: a ticket with all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import block, line_of, paint
from backstory.surfaces.cli.entries import day, entry_lines, row
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.tickets import run_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.ticketing import RunView, TicketDetail, TicketLine


@make("ticket show", "backstory ticket show retry-the-upload", "backstory ticket show back-12")
@click.argument("stem", metavar="STEM")
def command(run: Run, stem: str) -> None:
    """STEM is a ticket's stem or the beginning of it, its id, or the path of its file.

    With its run records, the tickets that depend on it, the entries that cite it, and what was odd about its files.
    """
    from backstory.project.ticketing import show_ticket

    detail = show_ticket(run.open(), stem, cwd=run.cwd)
    run.answer(detail, lambda: _lines(detail))


def _lines(detail: TicketDetail) -> Iterable[str]:
    ticket = detail.ticket
    words = ", ".join(filter(None, [ticket.state or "no state", ticket.kind, ticket.priority]))
    yield f"ticket {paint(line_of(ticket.stem), 'bold')}  {paint(line_of(words), 'green' if ticket.open else 'dim')}"
    yield block(ticket.title, 2)
    yield ""
    yield from (row(label, line_of(value)) for label, value in _facts(ticket, detail.needed_by))
    for name, text in detail.texts.items():
        yield from ["", name, block(text, 2)]
    if detail.runs:
        yield from ["", "runs"]
        for item in detail.runs:
            yield run_line(item)
            yield from _prose(item)
    if detail.entries:
        yield from ["", "entries", *entry_lines(detail.entries, "  ")]
    if detail.warnings:
        yield from ["", "warnings"]
        yield from (f"  {line_of(item.file)}:{item.line}  {line_of(item.why)}" for item in detail.warnings)


def _facts(ticket: TicketLine, needed_by: Iterable[str]) -> Iterable[tuple[str, str]]:
    waits = set(ticket.waits_for)
    depends = [f"{stem} (open)" if stem in waits else stem for stem in ticket.depends_on]
    rows = {
        "file": ticket.path,
        "id": ticket.id,
        "source": ticket.source,
        "depends on": ", ".join(depends),
        "needed by": ", ".join(needed_by),
        "touches": ", ".join(ticket.touches),
        "created": day(ticket.created_at),
        "updated": day(ticket.updated_at),
    }
    return ((label, value) for label, value in rows.items() if value)


_PROSE = {"escalation_reason": "escalated", "surprises_text": "surprises", "dead_ends_text": "dead ends"}


def _prose(item: RunView) -> Iterable[str]:
    for name, label in _PROSE.items():
        if item.fields.get(name):
            yield from [f"     {label}", block(str(item.fields[name]), 7)]
