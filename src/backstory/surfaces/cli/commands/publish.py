"""`backstory publish`: entries that are only in the clone's journal, into this tree."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import tell
from backstory.surfaces.cli.entries import entry_lines
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.publishing import Published


@make("publish", "backstory publish            # lists what is not in this tree", "backstory publish 7K3QZP",
      "backstory publish --all")  # fmt: skip
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Everything that is not in this tree.")
def command(run: Run, ids: tuple[str, ...], everything: bool) -> None:
    """What was written on another branch comes with its id, time and writer. Without an ID: lists what there is."""
    from backstory.project import publishing

    if ids and everything:
        raise BackstoryError("Name entries or say `--all`, not both.", hint="`backstory publish` lists what there is.")
    project = run.open()
    if not ids and not everything:
        away = publishing.not_in_tree(project)
        run.answer(away, lambda: entry_lines(away))
        if not away and not run.as_json:
            tell("Every entry of this clone is in this tree.")
        return
    published = publishing.publish(project, ids, everything=everything)
    run.answer(published, lambda: _lines(published))


def _lines(published: Published) -> Iterable[str]:
    yield f"Brought {len(published.entries)} entries ({published.events} events) into this tree"
    yield from entry_lines(published.entries, "  ")
