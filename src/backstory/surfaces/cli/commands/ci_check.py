"""`backstory ci check`: a branch checked, with reports for those who read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from backstory.errors import Exit
from backstory.surfaces.cli.console import line_of, paint, tell
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.ci.judging import CiAnswer

_COLOURS = {"block": "red", "warn": "yellow", "info": "cyan"}


@make("ci check", "backstory ci check --since origin/main --markdown comment.md --sarif backstory.sarif")
@click.option("--since", metavar="COMMIT", default="HEAD~1", show_default=True, help="Where the branch left.")
@click.option(
    "--level",
    type=click.Choice(["info", "warn", "block"]),
    default="warn",
    show_default=True,
    help="Exit with 1 when something at this level or above is found.",
)
@click.option("--markdown", metavar="FILE", default="", help="Write a comment for a pull request.")
@click.option("--sarif", metavar="FILE", default="", help="Write the findings as SARIF 2.1.0.")
@click.option("--junit", metavar="FILE", default="", help="Write the findings as JUnit XML.")
def command(run: Run, since: str, level: str, **paths: Any) -> int:
    """What was tried and decided about the files of the branch, and the decisions whose cited places it has moved.

    Exits with 5 when the memory could not be read whole.
    """
    from backstory.project.ci.judging import answer

    found = answer(run.open(), since, level, paths)
    run.answer(found, lambda: _lines(found))
    for problem in found.problems:
        tell(f"backstory: {line_of(problem)}")
    if found.problems:
        return Exit.DAMAGED
    return int(found.failed)


def _lines(found: CiAnswer) -> Iterable[str]:
    for one in found.findings:
        yield f"{paint(one.level, _COLOURS[one.level])}  {line_of(one.text)}"
        if one.why and one.level != "info":
            yield f"      {line_of(one.why)}"
    if not found.findings:
        yield "Nothing that is known speaks against this change."
    yield from (f"Written: {line_of(path)}" for path in found.written)
