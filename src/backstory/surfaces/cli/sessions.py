"""What the session commands share: reading what is new first, and how sessions and passages look on a screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from backstory.surfaces.cli.asking_history import Counter
from backstory.surfaces.cli.console import line_of, paint, wrap
from backstory.surfaces.cli.entries import entry_line, row
from backstory.surfaces.cli.running import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project
    from backstory.project.sessions.answers import Passage, SessionDetail, SessionRow
    from backstory.project.sessions.provenance import Behind, Place

F = TypeVar("F", bound=Callable[..., Any])
_COLOURS = {"done": "green", "failed": "red", "interrupted": "yellow"}
_SHORT_ID = 8


def as_it_is(function: F) -> F:
    """`--as-is`: ask the archive as it is."""
    return click.option("--as-is", is_flag=True, help="Ask what was read already; look for no new transcripts.")(
        function
    )


def client(function: F) -> F:
    """`--client`: sessions of one client."""
    return click.option("--client", default="", metavar="NAME", help="Only of this client, such as claude-code.")(
        function
    )


def up_to_date(run: Run, as_is: bool) -> Project:
    """The project, what is new in its transcripts read first."""
    from backstory.project.sessions.answers import refreshed

    project = run.open()
    if not as_is:
        with Counter() as counter:
            refreshed(
                project, os.environ, os.path.expanduser("~"), lambda done, all_: counter("transcripts", done, all_)
            )
        run.notices()
    return project


def short(id_: str) -> str:
    """The beginning of a session's id."""
    return id_[:_SHORT_ID]


def session_line(session: SessionRow, before: str = "") -> str:
    """`1f0c3a9b  2026-11-30 14:05  claude-code  done  12 min, 3 turns, 2 failed  fix the login`."""
    when = session.began[:16].replace("T", " ") or "at an unknown time"
    outcome = paint(f"{session.outcome:<11}", _COLOURS.get(session.outcome, "dim"))
    head = f"{paint(short(session.id), 'bold')}  {paint(when, 'dim')}  {session.client:<11}  {outcome}  "
    counts = [f"{session.minutes} min" if session.minutes else "", _count(session.turns, "turn")]
    counts += [
        _count(session.edits, "edit") if session.edits else "",
        f"{session.failed} failed" * bool(session.failed),
    ]
    told = f"{session.agent}: " if session.agent else ""
    text = f"{told}{session.title or '(nobody asked)'} ({', '.join(part for part in counts if part)})"
    gone = f" {paint('[transcript gone]', 'yellow')}" if session.gone else ""
    width = len(before) + _SHORT_ID + 2 + 16 + 2 + 11 + 2 + 11 + 2
    return before + head + wrap(line_of(text), width - 20, width) + gone


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def detail_lines(detail: SessionDetail) -> Iterable[str]:
    """A session whole."""
    session = detail.session
    yield session_line(session)
    tokens = f"{detail.tokens_read:,} read, {detail.tokens_written:,} written, {detail.tokens_cached:,} cached"
    facts = {
        "id": session.id, "model": " ".join(filter(None, (detail.provider, session.model))), "branch": session.branch,
        "started in": detail.cwd, "ended": session.ended[:16].replace("T", " "), "started by": session.parent,
        "tokens": tokens if detail.tokens_read or detail.tokens_written else "",
        "transcript": f"{session.transcript}{' (gone)' if session.gone else ''}",
        "not read": f"{detail.lost} records" if detail.lost else "",
        "committed": ", ".join(detail.commits),
    }  # fmt: skip
    yield from (row(name, line_of(value)) for name, value in facts.items() if value)
    yield from _section("turns", [_turn_line(turn) for turn in detail.turns])
    edited = [f"  {line_of(file.path)} ({_count(file.edits, 'edit')})" for file in detail.files if file.edits]
    read = [line_of(file.path) for file in detail.files if not file.edits]
    yield from _section("edited", edited)
    if read:
        yield from ["", f"{paint('read', 'bold')}: {wrap(', '.join(read[:20]), 2, 6)}"]
    yield from _section("failed", [_failure_line(one) for one in detail.failures])
    yield from _section("sub-agents", [session_line(agent, "  ") for agent in detail.agents])
    yield from _section("entries that came of it", [entry_line(view, "  ") for view in detail.entries])


def _section(name: str, lines: list[str]) -> Iterable[str]:
    if lines:
        yield from ["", f"{paint(name, 'bold')}:", *lines]


def _turn_line(turn: Any) -> str:
    asked = line_of(turn.asked or "(nobody asked)")
    counts = [_count(turn.calls, "call") if turn.calls else "", f"{turn.failed} failed" if turn.failed else ""]
    counts += [_count(turn.edits, "edit") if turn.edits else ""]
    done = ", ".join(part for part in counts if part)
    head = f"  {turn.number:>3}  "
    text = head + wrap(f"{asked}{f' ({done})' if done else ''}", len(head), len(head))
    return (
        f"{text}\n{' ' * len(head)}{paint(wrap(line_of(turn.said), len(head), len(head)), 'dim')}"
        if turn.said
        else text
    )


def _failure_line(one: Any) -> str:
    text = f"{line_of(one.command)}: {line_of(one.error)}"
    return f"  {wrap(text, 4, 2)}"


def place_lines(place: Place, *, again: bool = False) -> Iterable[str]:
    """Where an entry comes from: the session and its turn, then what stands there. `again`: the turn was shown."""
    where = f"session {short(place.session)}"
    if place.turn:
        where += f", turn {place.turn}"
    when = f", {place.at[:16].replace('T', ' ')}" if place.at else ""
    state = f" [{place.state}]" if place.state != "here" else ""
    yield f"{paint('comes from', 'bold')} {line_of(where + when)}{paint(state, 'yellow')}"
    if place.shows:
        yield f"  {wrap(line_of(place.shows), 2, 2)}"
    if place.asked and not again and not any(who == "person" for who, _ in place.lines):
        yield f"  asked: {wrap(line_of(place.asked), 9, 9)}"
    for who, text in place.lines:
        yield f"  {who}: {wrap(line_of(text), 4, 4 + len(who))}"
    if place.transcript:
        yield f"  {paint(line_of(f'{place.transcript}, byte {place.offset:,}'), 'dim')}"


def behind_lines(behind: Behind) -> Iterable[str]:
    """The commits and sessions behind a file or a line."""
    what = f"line {behind.line}" if behind.line else "it"
    if behind.commits:
        yield f"Commits behind {what}:"
    for commit in behind.commits:
        made = f" (session {', '.join(map(short, commit.sessions))})" if commit.sessions else ""
        yield f"  {commit.sha[:10]}  {paint(commit.at[:10], 'dim')}  {wrap(line_of(commit.subject + made), 4, 24)}"
    if behind.sessions:
        yield f"Sessions behind {what}:"
    for one in behind.sessions:
        did = _count(one.edits, "edit") if one.edits else f"read {one.reads} times" if one.reads > 1 else "read"
        text = f"{one.client}, turn {one.turn}, {did}: {one.title or '(nobody asked)'}"
        yield f"  {short(one.id):<10}  {paint(one.at[:10], 'dim')}  {wrap(line_of(text), 4, 24)}"


def passage_line(one: Passage) -> str:
    """Where words were found: session, turn, day, and the words."""
    head = f"{paint(short(one.session), 'bold')} turn {one.turn:<3} {paint(one.at[:10], 'dim')}  "
    text = one.title if not one.snippet or one.snippet in one.title else f"{one.title} \u2014 {one.snippet}"
    return (
        head + wrap(line_of(text), 4, _SHORT_ID + 22) + (f" {paint('[transcript gone]', 'yellow')}" if one.gone else "")
    )
