"""What is said about a run that began or ended."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.surfaces.cli.console import line_of, paint, wrap
from backstory.surfaces.cli.tickets import note_lines, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.running_records import RunOutcome

_LISTED, _LABEL = 5, 22


def started_lines(outcome: RunOutcome) -> Iterable[str]:
    """What was begun, what stands in it, what is not known, and the next step."""
    verb = "Started" if outcome.status == "started" else "Already started"
    yield f"{verb} {_run(outcome)}"
    yield from _rows(outcome)
    yield from note_lines(outcome.redacted, outcome.notes)
    yield f"  when it is done: `backstory run finish {typed(outcome.id or outcome.ticket)} --outcome done`"


def finished_lines(outcome: RunOutcome) -> Iterable[str]:
    """What was filled in, what could not be found out, and what is still to be said."""
    verb = "Finished" if outcome.status == "finished" else "Nothing changed in"
    yield f"{verb} {_run(outcome)}"
    yield from _rows(outcome)
    yield from note_lines(outcome.redacted, outcome.notes)
    if outcome.status == "finished" and not outcome.outcome_known:
        yield f"  how did it end? `backstory run finish {typed(outcome.id or outcome.ticket)} --outcome WORD`"
    if outcome.status == "unchanged":
        yield f"  another run: `backstory run start {typed(outcome.id or outcome.ticket)}`"


def _run(outcome: RunOutcome) -> str:
    which = "the run" if outcome.attempt == 1 else f"attempt {outcome.attempt}"
    return f"{which} of {paint(line_of(outcome.id or outcome.ticket), 'bold')}: {line_of(outcome.path)}"


def _rows(outcome: RunOutcome) -> Iterable[str]:
    for name, value in outcome.fields.items():
        if name in ("surprises_text", "dead_ends_text"):
            continue
        text = _files(outcome) if name == "actual_files" and outcome.files else line_of(value)
        yield f"  {paint(f'{name:<{_LABEL}}', 'dim')}{wrap(text, 2 + _LABEL, 2 + _LABEL)}"


def _files(outcome: RunOutcome) -> str:
    named = ", ".join(outcome.files[:_LISTED])
    more = f" and {len(outcome.files) - _LISTED} more" if len(outcome.files) > _LISTED else ""
    return f"{len(outcome.files)} ({line_of(named)}{more})"
