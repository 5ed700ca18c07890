"""How tickets and run records read on a screen."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from backstory.surfaces.cli.console import line_of, paint, shown_width, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.ticketing import RunView, TicketLine

_WIDEST = 32


def typed(name: str) -> str:
    """A name as it is typed in a shell."""
    return shlex.quote(line_of(name))


def note_lines(redacted: Sequence[str], notes: Sequence[str]) -> Iterable[str]:
    """What was taken out, and what else has to be said, a line each."""
    said = [f"redacted before writing: {', '.join(redacted)}"] if redacted else []
    return (f"  {wrap(line_of(note), 2, 2)}" for note in (*said, *notes))


def ticket_lines(tickets: Sequence[TicketLine]) -> Iterable[str]:
    """`back-12  open  bug  high  Retry the upload [waits for back-11] [2 runs, last failed]`, in columns."""
    rows = [(item.id or item.stem, item.state or "-", item.kind, item.priority) for item in tickets]
    columns = [[line_of(cell) for cell in column] for column in zip(*rows, strict=True)]
    widths = [min(max(map(_width, column)), _WIDEST) for column in columns]
    for item, *cells in zip(tickets, *columns, strict=True):
        padded = [_pad(cell, width) for cell, width in zip(cells, widths, strict=True) if width]
        start = sum(widths) + 2 * sum(map(bool, widths))
        padded[0] = paint(padded[0], "bold")
        padded[1] = padded[1] if item.open else paint(padded[1], "dim")
        yield "  ".join(padded) + "  " + wrap(_about(item), min(start, 40), start)


def _about(item: TicketLine) -> str:
    tags = [f"[waits for {', '.join(item.waits_for)}]"] if item.open and item.waits_for else []
    if item.runs:
        count = "1 run" if item.runs == 1 else f"{item.runs} runs"
        tags.append(f"[{count}, last {item.outcome}]" if item.outcome else f"[{count}]")
    return line_of(" ".join([item.title, *tags]))


def run_line(item: RunView) -> str:
    """`1  2026-03-01  done  42 minutes (30 predicted), 7 files (3 predicted), some-model  tickets/a.run.md`."""
    fields = item.fields
    day = str(fields.get("started_at") or fields.get("ended_at") or "-")[:10]
    outcome = fields.get("outcome") or ("finished" if item.finished else "under way")
    facts = [compared(fields, "minutes"), compared(fields, "files"), str(fields.get("model_exact", ""))]
    said = ", ".join(filter(None, facts))
    return f"  {item.attempt}  {day:<10}  {line_of(outcome)}  {line_of(said)}{'  ' if said else ''}{line_of(item.path)}"


def compared(fields: dict[str, Any], what: str) -> str:
    """`42 minutes (30 predicted)`, as far as either is known."""
    actual, predicted = fields.get(f"actual_{what}"), fields.get(f"predicted_{what}")
    if actual is None:
        return f"{_count(predicted, what)} predicted" if predicted is not None else ""
    return _count(actual, what) + (f" ({predicted:g} predicted)" if predicted is not None else "")


def _count(number: float, what: str) -> str:
    return f"{number:g} {what.removesuffix('s') if number == 1 else what}"


def _width(text: str) -> int:
    """The columns of a text; letters of scripts that are written wide take two."""
    from unicodedata import combining, east_asian_width

    wide = sum(2 if east_asian_width(letter) in "WF" else 0 if combining(letter) else 1 for letter in text)
    return wide if not text.isascii() else shown_width(text)


def _pad(text: str, width: int) -> str:
    return text + " " * max(0, width - _width(text))
