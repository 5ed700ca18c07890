"""What all recording commands share: their options, and how the outcome is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from backstory.surfaces.cli.console import line_of, paint, wrap
from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.input import text_of
from backstory.surfaces.cli.running import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View
    from backstory.project.gateway import Outcome
    from backstory.project.opened import Project

F = TypeVar("F", bound=Callable[..., Any])

words = click.argument("text", nargs=-1, metavar="TEXT")

_COMMON = (
    click.option("-f", "--file", "files", multiple=True, metavar="PATH",
                 help="A file it rests on: PATH, PATH:10-20 or PATH#symbol. Repeatable."),
    click.option("--detail", metavar="TEXT", help="More than one line."),
    click.option("--alias", "aliases", multiple=True, metavar="WORDS", help="Other words for it. Repeatable."),
    click.option("--ticket", metavar="REF", help="The ticket it rests on."),
    click.option("--commit", metavar="SHA", help="The commit it rests on (default: HEAD)."),
    click.option("--evidence", multiple=True, metavar="TEXT", help="Anything else it rests on. Repeatable."),
    click.option("--scope", metavar="PATH", help="The folder of the project that it is about."),
    click.option("--supersedes", multiple=True, metavar="ID", help="The entry that it replaces. Repeatable."),
    click.option("--valid-from", metavar="DAY", help="When it begins to hold."),
    click.option("--valid-until", metavar="DAY", help="When it ceases to hold."),
    click.option("--decay-days", type=Count(1, 36_500), metavar="DAYS", help="Days until it is stale by age."),
    click.option("--revisit-when", metavar="WHEN", help="A day, or words, for looking at it again."),
    click.option("--pin", "pinned", is_flag=True, help="Always a candidate for the brief (a person only)."),
)  # fmt: skip


def common(function: F) -> F:
    """The options that every kind of entry has, behind its own."""
    for option in reversed(_COMMON):
        function = option(function)
    return function


def issue_option(function: F) -> F:
    """`--issue` for kinds that need not belong to a case."""
    return click.option("--issue", metavar="ISSUE", help="The issue it belongs to: an id, or a number such as #717.")(
        function
    )


def case_words(function: F) -> F:
    """`ISSUE TEXT` for kinds that belong to a case; `--issue`, which the other kinds have, names it as well."""
    function = click.option("--issue", metavar="ISSUE", help="The issue, when it is not the first word.")(function)
    return click.argument("issue_text", nargs=-1, metavar="ISSUE TEXT", required=True)(function)


def record_in_case(run: Run, kind: str, issue: str | None, issue_text: Sequence[str], **fields: Any) -> None:
    """Write an entry of a case; the first of `issue_text` is the issue unless `issue` names it."""
    text = list(issue_text)
    if issue is None and len(text) < 2:
        raise click.UsageError("Name the issue first, then say the text.", click.get_current_context())
    record(run, kind, text, issue=issue if issue is not None else text.pop(0), **fields)


def record(run: Run, kind: str, text: Sequence[str], **fields: Any) -> None:
    """Write an entry and say what became of it. With `-` the first line is the summary and the rest the detail."""
    from backstory.project import gateway

    summary, rest = text_of(text)
    if rest:
        fields["detail"] = f"{fields['detail']}\n\n{rest}" if fields.get("detail") else rest
    project = run.open()
    outcome = gateway.record(project, run.by(), kind, {"summary": summary, **fields}, cwd=run.cwd)
    run.answer(outcome, lambda: said(project, outcome, fields.get("issue", "")))


def said(project: Project, outcome: Outcome, issue: str = "") -> Iterable[str]:
    """What became of a write: one line, then notes, then clashes with both sides and the call that settles them."""
    from backstory.project.answers import one_view

    view = one_view(project, outcome.id)
    verb = {"recorded": "Recorded", "corroborated": "Confirmed", "dropped": "Dropped"}[outcome.status]
    about = f" on {_issue(view)}" if issue and view.issue else ""
    head = f"{verb} {view.kind} {paint(view.short, 'bold')} ({view.standing}){about}: "
    yield head + wrap(line_of(view.summary), 2, len(head))
    yield from notes(outcome)
    for clash, call in zip(outcome.clashes, outcome.calls, strict=False):
        other = one_view(project, clash.id)
        word = "Resembles" if clash.sign == "similar" else "Clashes with"
        name = f"{other.kind} {paint(other.short, 'bold')}"
        yield f"  {paint(word, 'yellow')} {name} ({other.standing}): {line_of(clash.why)}"
        yield f"    there: {wrap(line_of(other.summary), 11, 11)}"
        yield f"    here:  {wrap(line_of(view.summary), 11, 11)}"
        yield f"    if the new one replaces it: {call}"


def _issue(view: View) -> str:
    """The issue that an entry belongs to; one that is no entry here is said to live elsewhere."""
    from backstory.records.ids import is_id

    return f"issue {view.issue[-6:]}" if is_id(view.issue) else f"the outside issue {line_of(view.issue)}"


def notes(outcome: Outcome) -> Iterable[str]:
    """The notes of an outcome, a line each."""
    return (f"  {wrap(line_of(note), 2, 2)}" for note in outcome.notes)
