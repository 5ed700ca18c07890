"""`backstory import`: an export of ours, read back in."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, patience, wrap
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.importing import Imported

_WORDS = {
    "restored": "put back as they were",
    "added": "added as proposed; `backstory review` walks through them",
    "present": "here already",
    "refused": "refused: their value was rejected, or they break a rule",
    "dropped": "not taken: the same was retired or superseded here",
    "left": "left out",
    "unreadable": "lines that are no event",
}


@make("import", "backstory import memory.jsonl --dry-run", "backstory import memory.jsonl")
@click.argument("file", type=click.Path())
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def command(run: Run, file: str, dry_run: bool) -> None:
    """FILE is what `backstory export` wrote as json or jsonl. Running it twice adds nothing.

    Lost events of this project come back as they were; those of another one are proposed, with FILE as evidence.
    """
    from backstory.project.importing import load

    project, by = run.open(), run.by()
    with patience("importing"):
        imported = load(project, by, file, dry_run=dry_run)
    run.answer(imported, lambda: _lines(imported))


def _lines(imported: Imported) -> Iterable[str]:
    yield f"{'Would import' if imported.dry_run else 'Imported'} {line_of(imported.file)}:"
    counts = [(getattr(imported, name), words) for name, words in _WORDS.items()]
    yield from (f"  {count:>6}  {words}" for count, words in counts if count)
    if not any(count for count, _ in counts):
        yield "  nothing: the file holds no event"
    yield from (f"  {wrap(line_of(note), 4, 2)}" for note in imported.notes)
