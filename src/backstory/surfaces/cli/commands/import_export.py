"""`backstory import`: an export of ours, read back in, or the memory of another tool."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from backstory.surfaces.cli.asking_history import Counter
from backstory.surfaces.cli.console import line_of, patience, wrap
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.importing import Imported
    from backstory.project.imports.running import TakenIn

_WORDS = {
    "restored": "put back as they were",
    "added": "added as proposed; `backstory review` walks through them",
    "present": "here already",
    "refused": "refused: their value was rejected, or they break a rule",
    "dropped": "not taken: the same was retired or superseded here",
    "left": "left out",
    "unreadable": "lines that are no event",
}
_TAKEN = {
    "approved": "of them approved there, and so here by you",
    "waiting": "of them approved there; they wait, since no person runs this",
    "continued": "notes added that hold the rest of long texts",
    "present": "here already",
    "same": "say what an entry says",
    "in_place": "not taken: read where they are, found by search after `backstory history refresh`",
    "ended": "no longer hold there",
    "refused": _WORDS["refused"],
    "dropped": _WORDS["dropped"],
    "unreadable": "could not be read, or are nothing to take",
    "odd": "read with a doubt",
    "naive": "times without a zone, read as UTC",
    "redacted": "held a secret, which was taken out",
}
_SHOWN = 20


@make("import", "backstory import memory.jsonl --dry-run", "backstory import .beads", "backstory import CLAUDE.md")
@click.argument("file", type=click.Path())
@click.option("--from", "source", default="", metavar="NAME",
              help="projectmem, beads, backlog, adr, agentlore, rules, notes or table.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def command(run: Run, file: str, source: str, dry_run: bool) -> None:
    """FILE is what `backstory export` wrote as json or jsonl, or the memory of another tool: .projectmem, .beads,
    backlog, a folder of decision records, CLAUDE.md or AGENTS.md, a folder of notes, a table (CSV, JSON). Running it
    twice adds nothing.

    Lost events of this project come back as they were; all else is proposed, with its place as evidence. What the
    source says somebody approved is approved by the person who runs this at a terminal.
    """
    from backstory.project.importing import load
    from backstory.project.imports.running import source_of, take_in

    project, by = run.open(), run.by()
    given = os.path.abspath(file)
    found = source_of(given, source)
    if found is not None:
        with Counter() as counter:
            taken = take_in(project, found[1], found[0], by=by, dry_run=dry_run, progress=counter)
        run.answer(taken, lambda: _taken(taken))
        return
    with patience("importing"):
        imported = load(project, by, file, dry_run=dry_run)
    run.answer(imported, lambda: _lines(imported))


def _taken(taken: TakenIn) -> Iterable[str]:
    added = ", ".join(f"{count} {kind}" for kind, count in taken.added.items()) or "nothing"
    did = "Would import" if taken.dry_run else "Imported"
    yield f"{did} {line_of(taken.file)} ({taken.source}), {taken.read} items:"
    yield f"  {sum(taken.added.values()):>6}  added as proposed: {added}"
    yield from (f"  {count:>6}  {said}" for name, said in _TAKEN.items() if (count := getattr(taken, name)))
    yield from (f"  {wrap(line_of(note), 4, 2)}" for note in taken.notes[:_SHOWN])
    if len(taken.notes) > _SHOWN:
        yield f"  and {len(taken.notes) - _SHOWN} more; `--json` lists them all"


def _lines(imported: Imported) -> Iterable[str]:
    yield f"{'Would import' if imported.dry_run else 'Imported'} {line_of(imported.file)}:"
    counts = [(getattr(imported, name), words) for name, words in _WORDS.items()]
    yield from (f"  {count:>6}  {words}" for count, words in counts if count)
    if not any(count for count, _ in counts):
        yield "  nothing: the file holds no event"
    yield from (f"  {wrap(line_of(note), 4, 2)}" for note in imported.notes)
