"""Begins and ends the run record of a ticket.

Promises:

* What git and the clock know is filled in; nothing is asked, and what cannot be found out stays empty and is said.
* Nothing that a record says already is changed: no field, no prose, no key of somebody else, no line end.
* Starting twice, or finishing twice, changes nothing the second time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.log.lock import held
from backstory.project.opened import Project
from backstory.project.prose import Prose
from backstory.project.run_facts import SECOND, Facts, base_facts, end_facts
from backstory.project.session_facts import model_name
from backstory.project.ticket_tree import TicketTree, base, create_seen
from backstory.project.ticketing import is_finished
from backstory.project.tree_files import read_bytes, replace
from backstory.records.times import format_instant
from backstory.sources.frontmatter import Given
from backstory.sources.run_records import RunRecord, parse_run_record, run_record_text, stated
from backstory.sources.ticket_names import id_before_title
from backstory.sources.ticket_places import RUN, Found, shown

STARTED, OPEN, FINISHED, UNCHANGED = "started", "open", "finished", "unchanged"
PROSE = ("surprises_text", "dead_ends_text")


class RunOutcome(msgspec.Struct, frozen=True):
    """What became of a run record.

    `status`: started, open (it was started before), finished, unchanged (all was said before). `id` is what Backlog.md
    calls the ticket, else "". `fields` are those that were written, `files` what differs since the base commit,
    `notes` what could not be found out or was left as it stood. `outcome_known`: the record says how it ended.
    """

    status: str
    ticket: str
    id: str
    path: str
    attempt: int
    fields: dict[str, Any] = {}
    files: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcome_known: bool = False


class _Record(NamedTuple):
    """A run record that exists: its bytes and text as they are, what they mean, and the names of what they state."""

    found: Found
    data: bytes
    text: str
    record: RunRecord
    stated: frozenset[str]


def start(
    project: Project, name: str, fields: Mapping[str, Any], *, env: Mapping[str, str] | None = None, cwd: str = ""
) -> RunOutcome:
    """Begin a run of the ticket `name`: a new record, or the next attempt where the last one is finished.

    `fields` are those of a run record that are known beforehand; None and "" are left out. A record that was made by
    hand and has no start yet is filled in.
    """
    prose = Prose()
    given = _cleaned(prose, fields)
    ticket, records, last = _current(project, name, cwd)
    if last is not None and "started_at" in last.stated:
        return _still_open(ticket, last)
    # Git may take its time, and whoever writes to the log waits for the lock.
    facts = base_facts(project, _own(ticket, records))
    with held(project.config.places.shared_dir):
        ticket, records, last = _current(project, name, cwd)
        if last is not None and "started_at" in last.stated:
            return _still_open(ticket, last)
        wanted = {**facts.fields, **_model(env), **given}
        if last is not None:
            written, notes = _fill(project.root, last, wanted, given)
            made = last.found
        else:
            written, notes = wanted, []
            made = create_seen(project.config, _places(ticket, records), run_record_text(wanted), RUN)
    return _outcome(STARTED, ticket, made, written, prose, [*facts.notes, *notes])


def finish(
    project: Project, name: str, fields: Mapping[str, Any], *, env: Mapping[str, str] | None = None, cwd: str = ""
) -> RunOutcome:
    """End the run of the ticket `name`: fill in what git and the clock know, and `fields` where nothing stands yet.

    A ticket that was never started gets a record with what is known.
    """
    prose = Prose()
    given = _cleaned(prose, fields)
    ticket, records, last = _current(project, name, cwd)
    if not records:
        return _never_started(project, ticket, given, prose, env)
    facts, wanted = Facts(), given
    if last is not None:
        facts = end_facts(project, last.record, last.stated, _own(ticket, records))
        wanted = {**facts.fields, **_model(env), **given}
    record = last or records[-1]
    written, notes = _fill(project.root, record, wanted, given)
    known = "outcome" in record.stated or "outcome" in written
    if written:
        made = _outcome(FINISHED, ticket, record.found, written, prose, [*facts.notes, *notes], facts.files)
    else:
        ended = record.record.ended_at
        when = f" at {format_instant(ended)[:16]}Z" if ended is not None else ""
        made = _outcome(UNCHANGED, ticket, record.found, {}, prose, [f"it was finished{when} already", *notes])
    return msgspec.structs.replace(made, outcome_known=known)


# --- the steps -------------------------------------------------------------------------------------------------


def _current(project: Project, name: str, cwd: str) -> tuple[Found, list[_Record], _Record | None]:
    """The ticket, its run records, and the last of them that has not ended."""
    tree = TicketTree(project.config)
    ticket = tree.ticket(name, cwd)
    records = [_read(project.root, item) for item in tree.records(ticket)]
    under_way = (one for one in reversed(records) if "ended_at" not in one.stated and not is_finished(one.record))
    return ticket, records, next(under_way, None)


def _own(ticket: Found, records: list[_Record]) -> set[str]:
    return {ticket.path, *(one.found.path for one in records)}


def _cleaned(prose: Prose, fields: Mapping[str, Any]) -> dict[str, Given]:
    """The given fields without secrets; numbers as they are, prose with its lines, all else in one line."""
    given: dict[str, Given] = {}
    for name, value in fields.items():
        if isinstance(value, str):
            text = prose.block(value) if name in PROSE else prose.line(value, name)
            given |= {name: text} if text else {}
        elif value is not None:
            given[name] = value
    return given


def _model(env: Mapping[str, str] | None) -> dict[str, Given]:
    name = model_name(os.environ if env is None else env)
    return {"model_exact": name} if name else {}


def _read(root: str, item: Found) -> _Record:
    data = read_bytes(root, item.path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _no_text(item) from error
    if "\0" in text:
        raise _no_text(item)
    return _Record(item, data, text, parse_run_record(text, item)[0], stated(text))


def _no_text(item: Found) -> BackstoryError:
    return BackstoryError(
        f"Nothing was written: {shown(item.path)} is not UTF-8, or no text at all.",
        hint="Save it as UTF-8, so that what stands in it stays as it is, then run the command again.",
        code=Exit.REFUSED,
    )


def _fill(
    root: str, record: _Record, wanted: Mapping[str, Given], given: Mapping[str, Given]
) -> tuple[dict[str, Given], list[str]]:
    """Write the fields that the record does not state; (those, notes on given ones that were left as they stood)."""
    free = {name: value for name, value in wanted.items() if name not in record.stated}
    kept = [name for name in given if name in record.stated and getattr(record.record, name) != given[name]]
    notes = [f"{name} stands there already and was left as it is" for name in kept]
    if free:
        try:
            text = run_record_text(free, record.text)
        except BackstoryError as error:
            raise BackstoryError(f"{shown(record.found.path)}: {error.message}", hint=error.hint) from error
        replace(root, record.found.path, record.data, text.encode("utf-8"))
    return free, notes


def _places(ticket: Found, records: list[_Record]) -> list[str]:
    """Where the record of a new run may lie, the best place first."""
    folder = base(ticket)
    if records:
        number = max(item.found.attempt or 1 for item in records) + 1
        return [f"{folder}/attempts/{number}/run.md"]
    # In a tree of Backlog.md that tool takes `<stem>.run.md` for a second task of the same id.
    inside = os.path.basename(ticket.path).lower() == "ticket.md" or id_before_title(ticket.stem) is not None
    return [f"{folder}/run.md"] if inside else [f"{folder}.run.md", f"{folder}/run.md"]


def _never_started(
    project: Project, ticket: Found, given: dict[str, Given], prose: Prose, env: Mapping[str, str] | None
) -> RunOutcome:
    wanted = {"ended_at": project.now // SECOND * SECOND, **_model(env), **given}
    made = create_seen(project.config, _places(ticket, []), run_record_text(wanted), RUN)
    note = "it was never started: no base commit and no start are known, so minutes and files stay empty"
    return _outcome(FINISHED, ticket, made, wanted, prose, [note])


def _still_open(ticket: Found, record: _Record) -> RunOutcome:
    since = record.record.started_at
    when = f" since {format_instant(since)[:16]}Z" if since is not None else ""
    return RunOutcome(
        OPEN, shown(ticket.stem), _id(ticket), shown(record.found.path), record.found.attempt or 1,
        notes=(f"it is under way{when}; nothing was changed",),
    )  # fmt: skip


def _outcome(
    status: str, ticket: Found, made: Found, written: Mapping[str, Given], prose: Prose, notes: list[str],
    files: tuple[str, ...] = (),
) -> RunOutcome:  # fmt: skip
    times = ("started_at", "ended_at")
    fields = {name: format_instant(value) if name in times else value for name, value in written.items()}  # type: ignore[arg-type]
    return RunOutcome(
        status, shown(ticket.stem), _id(ticket), shown(made.path), made.attempt or 1,
        fields, files, prose.redacted, tuple(notes),
    )  # fmt: skip


def _id(ticket: Found) -> str:
    return (id_before_title(shown(ticket.stem)) or "").upper()
