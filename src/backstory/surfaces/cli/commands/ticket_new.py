"""`backstory ticket new`: writes a ticket."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from backstory.surfaces.cli.console import line_of, paint, wrap
from backstory.surfaces.cli.input import text_of
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.tickets import note_lines, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.ticket_writing import NewTicket


@make(
    "ticket new",
    'backstory ticket new "Retry the upload" --goal "No upload is lost" --touches src/upload/ --kind bug',
    'backstory ticket new "Limit the store" --depends-on retry-the-upload --acceptance "10 GB is refused"',
    "backstory ticket new - < ticket.txt",
)
@click.argument("title", nargs=-1, metavar="TITLE", required=True)
@click.option("--goal", metavar="TEXT", help="What is true when it is done.")
@click.option("--why", metavar="TEXT", help="The reason.")
@click.option("--scope", metavar="TEXT", help="What belongs to it and what does not.")
@click.option("--acceptance", multiple=True, metavar="TEXT", help="A criterion of acceptance. Repeatable.")
@click.option("--verification", metavar="TEXT", help="How it is verified.")
@click.option("--kind", metavar="WORD", help="Such as bug, feature, chore.")
@click.option("--priority", metavar="WORD", help="Such as high or low.")
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@click.option("--touches", multiple=True, metavar="PATH", help="A file, folder or pattern it changes. Repeatable.")
@click.option("--depends-on", multiple=True, metavar="STEM", help="A ticket that must be done before. Repeatable.")
@click.option("--state", metavar="WORD", help="The state it begins in (default: open).")
@click.option("--stem", default="", metavar="NAME", help="The name of its file (default: made of the title).")
@click.option("--folder", default="", metavar="PATH", help="Where it goes (default: the first place that exists).")
def command(run: Run, title: tuple[str, ...], stem: str, folder: str, **fields: Any) -> None:
    """TITLE says what is to be done in one line; `-` reads it from stdin, the first line as title and the rest as goal.

    Where Backlog.md is in use it is written as that tool would, with the next id. No file is ever overwritten.
    """
    from backstory.project.ticket_writing import new_ticket

    project = run.open()
    text, rest = text_of(title)
    if rest:
        fields["goal"] = f"{fields['goal']}\n\n{rest}" if fields["goal"] else rest
    made = new_ticket(project, text, fields, stem=stem, folder=folder, cwd=run.cwd)
    run.answer(made, lambda: _lines(made))


def _lines(made: NewTicket) -> Iterable[str]:
    name = made.id or made.stem
    head = f"Wrote ticket {paint(line_of(name), 'bold')} ({line_of(made.state)}): "
    yield head + wrap(line_of(made.title), 2, len(head))
    yield f"  {line_of(made.path)}"
    yield from note_lines(made.redacted, made.notes)
    yield f"  when work on it begins: `backstory run start {typed(name)}`"
