"""`backstory why`: everything known about a file, and what it rests on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, paint, wrap
from backstory.surfaces.cli.entries import entry_line, entry_lines
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sessions import behind_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View, Why

_PLACE = re.compile(r"^(.+?):(\d+)(?:-\d+)?$", re.DOTALL)
_LINES = re.compile(r":(\d+)(?:-(\d+))?$")


@make("why", "backstory why src/db.py", "backstory why src/db.py:42", "backstory why src/")
@click.argument("path")
def command(run: Run, path: str) -> None:
    """PATH is a file or folder; with `:LINE` what cites that line comes first. Unknown is not the same as safe."""
    from backstory.project.answers import why

    project, line = run.open(), 0
    place = _PLACE.match(path)
    if place and not os.path.lexists(os.path.join(run.cwd, path)):
        path, line = place[1], int(place[2])
    answer = why(project, path, run.cwd, line=line)
    run.answer(answer, lambda: _lines(answer, line))


def _lines(answer: Why, line: int) -> Iterable[str]:
    facts = [] if answer.exists else [f"now {answer.now}" if answer.now else "it does not exist now"]
    facts += [f"formerly {', '.join(answer.formerly)}"] if answer.formerly else []
    facts += [f"{answer.commits} commits since the oldest entry's"] if answer.commits else []
    yield f"{paint(line_of(answer.path), 'bold')}{' — ' if facts else ''}{line_of('; '.join(facts))}"
    if not answer.known and not answer.withdrawn:
        yield "  Nothing is known about it, which is not the same as safe."
    entries = sorted(answer.entries, key=lambda view: not _covers(view, answer, line)) if line else answer.entries
    for view in entries:
        yield entry_line(view, "  ")
        for rest in _rests_on(view):
            yield f"      {paint(rest, 'dim')}"
    yield from _section("No longer holds", answer.withdrawn)
    yield from _section("In the same folder", answer.folder)
    if answer.lessons:
        yield "From other projects:"
        for one in answer.lessons:
            yield f"  {wrap(line_of(one.text), 4, 2)}"
            yield f"      {paint(f'backstory global show {one.short}', 'dim')}"
    if answer.behind is not None:
        yield from behind_lines(answer.behind)


def _section(title: str, views: tuple[View, ...]) -> Iterable[str]:
    if views:
        yield f"{title}:"
        yield from entry_lines(views, "  ")


def _rests_on(view: View) -> list[str]:
    items = [*view.files, *view.evidence]
    return [line_of(f"rests on {', '.join(items)}")] if items else []


def _covers(view: View, answer: Why, line: int) -> bool:
    """Whether an entry cites lines of this file with `line` among them."""
    for cited in view.files:
        found = _LINES.search(cited)
        if found and cited[: found.start()] in (answer.path, *answer.formerly):
            return int(found[1]) <= line <= int(found[2] or found[1])
    return False
