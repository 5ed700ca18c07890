"""What the tickets and run records of the tree say: a list, and one ticket with all that belongs to it.

Read from the files at every call, so that it is true without a refresh of the history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields as fields_of
from typing import Any

import msgspec

from backstory.errors import BackstoryError
from backstory.project.opened import Project
from backstory.project.refresh import recheck
from backstory.project.ticket_tree import TicketTree
from backstory.recall import live
from backstory.recall.view import View, by_ids
from backstory.records.codec import read_fields
from backstory.records.times import format_instant
from backstory.sources import run_records, tickets
from backstory.sources.run_records import RunRecord
from backstory.sources.skipped import Skipped, Warned
from backstory.sources.ticket_names import bare
from backstory.sources.ticket_places import Found, shown
from backstory.sources.tickets import Ticket

# States that say that nothing is left to do, as letters alone; any other one, and none, is open.
_CLOSED = frozenset(
    """abandoned accepted archive archived cancelled canceled closed complete completed done duplicate finished fixed
    invalid merged obsolete rejected released resolved shipped skipped superseded wont wontdo wontfix""".split()
)


class TicketLine(msgspec.Struct, frozen=True):
    """A ticket in a list. `waits_for`: what it depends on and is open; `outcome`: that of the last run record.

    Texts are "" where the ticket says nothing; instants are ISO 8601.
    """

    stem: str
    path: str
    id: str
    title: str
    state: str
    open: bool
    kind: str
    priority: str
    source: str
    created_at: str
    updated_at: str
    depends_on: tuple[str, ...]
    waits_for: tuple[str, ...]
    touches: tuple[str, ...]
    runs: int
    outcome: str


class RunView(msgspec.Struct, frozen=True):
    """A run record: `fields` are what it says by the names of the contract; `finished` whether it has an end."""

    path: str
    attempt: int
    finished: bool
    fields: dict[str, Any]


class Place(msgspec.Struct, frozen=True):
    """Something about a line of a file; line 0 is the file as a whole."""

    file: str
    line: int
    why: str


class TicketDetail(msgspec.Struct, frozen=True):
    """A ticket with all that belongs to it: `texts` by heading, run records oldest first, what depends on it, what the
    readers had to guess in its files, and the live entries that cite it."""

    ticket: TicketLine
    texts: dict[str, str]
    runs: tuple[RunView, ...]
    needed_by: tuple[str, ...]
    warnings: tuple[Place, ...]
    entries: tuple[View, ...]


class _Read:
    """Every ticket and run record of a project, read once."""

    def __init__(self, project: Project) -> None:
        root, patterns = project.root, project.config.settings.tickets
        read = list(tickets.read(root, patterns))
        records = list(run_records.read(root, patterns))
        self.tickets = [item for item in read if isinstance(item, Ticket)]
        problems = [item for item in (*read, *records) if isinstance(item, Skipped | Warned)]
        self.problems = sorted(problems, key=lambda item: (item.file, item.line))
        self.states = {item.stem: item.state for item in reversed(self.tickets)}
        self.records: dict[str, list[RunRecord]] = {}
        for item in records:
            if isinstance(item, RunRecord):
                self.records.setdefault(item.ticket_stem, []).append(item)

    def line(self, ticket: Ticket) -> TicketLine:
        runs = self.records.get(ticket.stem, [])
        waits = (stem for stem in ticket.depends_on_stems if stem in self.states and is_open(self.states[stem]))
        return TicketLine(
            stem=ticket.stem,
            path=ticket.path,
            id=ticket.id or "",
            title=ticket.title,
            state=ticket.state or "",
            open=is_open(ticket.state),
            kind=ticket.kind or "",
            priority=ticket.priority or "",
            source=ticket.source or "",
            created_at=_iso(ticket.created_at),
            updated_at=_iso(ticket.updated_at),
            depends_on=ticket.depends_on_stems,
            waits_for=tuple(waits),
            touches=ticket.touches_prefixes,
            runs=len(runs),
            outcome=(_in_order(runs)[-1].outcome or "") if runs else "",
        )


def is_open(state: str | None) -> bool:
    """Whether a ticket in this state is still to be done."""
    return re.sub(r"[^a-z]", "", (state or "").lower()) not in _CLOSED


def _iso(micros: int | None) -> str:
    return "" if micros is None else format_instant(micros)


def _in_order(records: Sequence[RunRecord]) -> list[RunRecord]:
    return sorted(records, key=lambda item: (item.attempt or 0, item.path))


# --- the list --------------------------------------------------------------------------------------------------


class TicketList(msgspec.Struct, frozen=True):
    """The open tickets, then the others, by path and numbers in it by value; and the files that were left out."""

    tickets: tuple[TicketLine, ...]
    skipped: tuple[Place, ...]


def list_tickets(
    project: Project, *, states: Sequence[str] = (), kinds: Sequence[str] = (), open_only: bool = False
) -> TicketList:
    """The tickets in one of the states and of one of the kinds, whatever their case; none named means all."""
    read = _Read(project)
    wanted = {_plain(state) for state in states}, {_plain(kind) for kind in kinds}
    lines = [
        line
        for line in map(read.line, read.tickets)
        if (not wanted[0] or _plain(line.state) in wanted[0])
        and (not wanted[1] or _plain(line.kind) in wanted[1])
        and (line.open or not open_only)
    ]
    skipped = [item for item in read.problems if isinstance(item, Skipped) and not item.why.startswith("no ticket")]
    lines.sort(key=lambda line: (not line.open, _by_number(line.path)))
    return TicketList(tuple(lines), tuple(map(_place, skipped)))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _by_number(path: str) -> list[tuple[int, str]]:
    """Sorts `back-2` before `back-10`."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d{1,18})", path) if part]


def _place(item: Skipped | Warned) -> Place:
    return Place(item.file, item.line, item.why)


# --- one ticket ------------------------------------------------------------------------------------------------


def show_ticket(project: Project, name: str, *, cwd: str = "") -> TicketDetail:
    """A ticket by stem, id or path. `BackstoryError` if there is none, more than one, or it cannot be read."""
    tree = TicketTree(project.config)
    found = tree.ticket(name, cwd)
    read = _Read(project)
    path = shown(found.path)
    ticket = next((item for item in read.tickets if item.path == path), None)
    if ticket is None:
        why = next((item.why for item in read.problems if item.file == path), "it is gone")
        raise BackstoryError(f"{path} is not read as a ticket: {why}.", hint="Mend the file, then ask again.")
    paths = {shown(item.path) for item in tree.records(found)}
    runs = [record for record in read.records.get(ticket.stem, ()) if record.path in paths]
    texts = {name: getattr(ticket, name) for name in ("goal", "why", "scope", "acceptance", "verification")}
    return TicketDetail(
        ticket=read.line(ticket),
        texts={name: text for name, text in texts.items() if text},
        runs=tuple(map(_run_view, _in_order(runs))),
        needed_by=tuple(item.stem for item in read.tickets if ticket.stem in item.depends_on_stems),
        warnings=tuple(_place(item) for item in read.problems if item.file in {path, *paths}),
        entries=tuple(_citing(project, tree, found, paths)),
    )


def _run_view(record: RunRecord) -> RunView:
    values = {item.name: getattr(record, item.name) for item in fields_of(record)}
    said = {
        name: format_instant(value) if name in ("started_at", "ended_at") else value
        for name, value in values.items()
        if value is not None and name not in ("ticket_stem", "path", "attempt")
    }
    return RunView(record.path, record.attempt or 1, is_finished(record), said)


def is_finished(record: RunRecord) -> bool:
    """Whether a run has ended: it says when, or how, and was not begun by a start that still waits for its end."""
    return record.ended_at is not None or (record.outcome is not None and record.started_at is None)


def _citing(project: Project, tree: TicketTree, ticket: Found, records: Iterable[str]) -> list[View]:
    """The live entries that name the ticket, or cite its file or one of its run records; newest first."""
    paths = [shown(ticket.path), *sorted(records)]
    marks = {f"path{at}": path for at, path in enumerate(paths)}
    cited = ",".join(f":{name}" for name in marks)
    of_files = f"SELECT f.entry FROM entry_files AS f WHERE f.path IN ({cited})"
    named = "SELECT v.event FROM events AS v WHERE instr(v.body, '\"ticket\":') > 0"
    where = f"e.entry IN ({named} UNION {of_files})"
    columns = f"e.id, (SELECT v.body FROM events AS v WHERE v.event = e.entry), e.entry IN ({of_files})"
    rows = live.rows(project.db, columns, where, {"now": project.now, **marks}, "ORDER BY e.last_at DESC, e.id")
    stem = shown(ticket.stem)
    meant: dict[str, str] = {}
    ids = [str(id_) for id_, body, of_file in rows if of_file or _named(tree, str(body), meant) == stem]
    recheck(project, ids)
    return list(by_ids(project.db, ids, project.now).values())


def _named(tree: TicketTree, body: str, meant: dict[str, str]) -> str:
    """The stem of the ticket that an entry names; `meant` keeps what names were found to mean."""
    name = str(read_fields(body.encode("utf-8", "surrogatepass")).get("ticket", ""))
    if name not in meant:
        known = tree.known(name) if name else None
        meant[name] = shown(known.stem) if known else bare(name)
    return meant[name]
