"""A preview of changes to files of others, and the question whether to make them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import click

from backstory.errors import Exit
from backstory.surfaces.cli.console import clean, line_of, paint, say, say_all, wrap
from backstory.surfaces.cli.running import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.installing.answers import FileChange, Installation

_WORDS = {
    "create": ("would create", "created", "green"),
    "change": ("would change", "changed", "yellow"),
    "remove": ("would remove", "removed", "red"),
    "restore": ("would restore", "restored", "green"),
    "same": ("stays as it is", "stays as it is", "dim"),
    "refused": ("was left alone", "was left alone", "red"),
}
_COLOURS = {"+": "green", "-": "red", "@": "dim"}


def carry_out(
    run: Run, planned: Installation, apply: Callable[[], Installation], *, yes: bool, dry_run: bool, idle: str
) -> int:
    """Show `planned`, ask where somebody can answer, and `apply`; the exit code. `idle` is said of nothing to do."""
    if run.as_json:
        answer = apply() if yes and not dry_run and planned.changes else planned
        run.json(answer)
        return _code(answer)
    say_all(preview(planned))
    if planned.changes and not dry_run:
        if yes or _agreed(planned):
            say_all(_done(apply(), planned))
        return _code(planned)
    say_all(_nothing(planned, dry_run, idle))
    return _code(planned)


def preview(planned: Installation) -> Iterable[str]:
    """Clients with what they cannot do, then each file with its diff, then what else is to be known."""
    for client in planned.clients:
        if not client.notes:
            continue
        yield paint(client.title, "bold")
        yield from (f"  - {wrap(line_of(note), 4, 4)}" for note in client.notes)
    for file in planned.files:
        yield ""
        yield from _file(file)
    if planned.notes:
        yield ""
        yield from (f"Note: {wrap(line_of(note), 6, 6)}" for note in planned.notes)


def _file(file: FileChange) -> Iterable[str]:
    word, _, colour = _WORDS[file.state]
    yield f"{paint(line_of(file.path), 'bold')} {paint(word, colour)} ({', '.join(file.clients)})"
    if file.note:
        yield f"  {wrap(line_of(file.note), 2, 2)}"
    for line in clean(file.diff).split("\n") if file.diff else ():
        if not line.startswith(("+++ ", "--- ")):
            yield "  " + paint(line, _COLOURS.get(line[:1], "dim"))


def _agreed(planned: Installation) -> bool:
    count = planned.changes
    question = f"Change {'this file' if count == 1 else f'these {count} files'}?"
    say()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("Nothing was changed: there is nobody to ask. Add --yes to do it.")
        return False
    try:
        if click.confirm(question, default=False):
            return True
    except click.Abort:
        say()
    say("Nothing was changed.")
    return False


def _done(done: Installation, planned: Installation) -> Iterable[str]:
    """What was done; a note that the preview had already is not said again."""
    said = {file.note for file in planned.files}
    yield ""
    for file in done.files:
        if file.state not in ("same", "refused"):
            yield f"{_WORDS[file.state][1]} {line_of(file.path)}"
            if file.note not in said:
                yield f"  {wrap(line_of(file.note), 2, 2)}"


def _nothing(planned: Installation, dry_run: bool, idle: str) -> Iterable[str]:
    yield ""
    if planned.changes:
        yield "Nothing was changed: this was a dry run."
    elif planned.refused:
        yield "Nothing was changed."
    else:
        yield idle


def _code(planned: Installation) -> int:
    return Exit.REFUSED if planned.refused else Exit.OK
