"""`backstory diff`: what a branch changes in the memory."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, paint, patience, say_all, tell, wrap
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.team.diffing import MemoryDiff

_COLOURS = {"added": "green", "confirmed": "green", "withdrawn": "red", "put in doubt": "yellow"}


@make("diff", "backstory diff main..HEAD", "backstory diff origin/main --markdown")
@click.argument("range", metavar="[BASE[..HEAD]]", required=False, default="")
@click.option("--markdown", is_flag=True, help="For a comment on a pull request.")
def command(run: Run, range: str, markdown: bool) -> None:
    """What HEAD (default: the work tree) says that BASE (default: the main branch) does not: entries that are added,
    confirmed, put in doubt, withdrawn. What BASE alone has is its own news.
    """
    from backstory.project.team.diffing import diff, main_branch
    from backstory.project.team.texts import markdown as as_markdown

    project = run.open()
    base, dots, head = range.partition("..")
    with patience("reading the log at both ends"):
        found = diff(project, base or main_branch(project), head.lstrip(".") or ("HEAD" if dots else ""))
    if markdown and not run.as_json:
        say_all(as_markdown(found).splitlines())
    else:
        run.answer(found, lambda: _lines(found))
    if not found.changes and not run.as_json:
        tell("It changes nothing in the memory.")


def _lines(found: MemoryDiff) -> Iterable[str]:
    for one in found.changes:
        was = f" (was {one.was})" if one.was and one.was != one.standing else ""
        head = (
            f"{paint(f'{one.what:<12}', _COLOURS.get(one.what, 'dim'))}  {paint(one.short, 'bold')}  {one.kind:<10}  "
        )
        why = f": {one.why}" if one.why else ""
        yield head + wrap(
            line_of(f"{one.summary} [{', '.join(dict.fromkeys((one.standing, *one.tags)))}{was}] by {one.by}{why}"),
            4,
            34,
        )
