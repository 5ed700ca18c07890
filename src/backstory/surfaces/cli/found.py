"""How hits of a search are printed, and the option that says which files they shall share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from backstory.surfaces.cli.console import line_of, paint, tell, wrap
from backstory.surfaces.cli.entries import entry_line
from backstory.surfaces.cli.running import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import SearchAnswer

F = TypeVar("F", bound=Callable[..., Any])


def near(function: F) -> F:
    """`--for`: the files of the present work."""
    help_ = "What shares this file comes first (default: what is changing). Repeatable."
    return click.option("--for", "files", multiple=True, metavar="PATH", help=help_)(function)


def print_hits(run: Run, answer: SearchAnswer, limit: int, nothing: str) -> None:
    """The hits, best first, and what holds instead of something withdrawn that was asked for."""
    run.answer(answer, lambda: _lines(answer))
    if run.as_json:
        return
    if not answer.hits and not answer.instead:
        tell(nothing)
    if answer.more:
        tell(f"There is more than these {limit}; `--limit N` shows it.")


def _lines(answer: SearchAnswer) -> Iterable[str]:
    for hit in answer.hits:
        yield entry_line(hit.entry) if hit.entry is not None else _hit_line(hit)
    for item in answer.instead:
        asked = item.asked
        text = f"{asked.short} {line_of(asked.summary)} ({line_of(item.why)})"
        yield f"{paint('No longer holds:', 'yellow')} {wrap(text, 2, 17)}"
        for view in item.holds:
            if view.id != asked.id:
                yield entry_line(view, "  what holds instead: ")


def _hit_line(hit: Any) -> str:
    ref = hit.ref[:10] if hit.source == "commit" else hit.ref
    head = line_of(f"{hit.source.replace('_', ' ')} {ref} {hit.at[:10]}".rstrip()) + "  "
    text = f"{hit.title} \u2014 {hit.snippet}" if hit.snippet and not _same(hit.snippet, hit.title) else hit.title
    return paint(head, "dim") + wrap(line_of(text), 4, len(head))


def _same(snippet: str, title: str) -> bool:
    """Whether the snippet is the title again, with marks."""
    return "".join(letter for letter in snippet if letter not in "[]") == "".join(
        letter for letter in title if letter not in "[]"
    )
