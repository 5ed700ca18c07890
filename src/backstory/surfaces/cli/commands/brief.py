"""`backstory brief`: what a session starts with."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import clean, line_of, tell
from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.briefing import BriefAnswer
    from backstory.project.opened import Project


@make("brief", "backstory brief", "backstory brief --for src/db.py --budget 500", "backstory brief --explain")
@click.option("--for", "paths", multiple=True, metavar="PATH", help="A file of the present work. Repeatable.")
@click.option("--budget", type=Count(20, 20_000), metavar="N", help="Tokens (default: the setting, 250).")
@click.option("--explain", is_flag=True, help="Say why each line is there.")
def command(run: Run, paths: tuple[str, ...], budget: int | None, explain: bool) -> None:
    """For the files of the present work: what git says is changing, or those named with `--for`."""
    from backstory.project.briefing import brief

    project = run.open()
    answer = brief(project, paths=paths, budget=budget or 0, cwd=run.cwd)
    if not answer.text and not run.as_json:
        tell(_why_nothing(project, answer))
    run.answer(answer, lambda: _lines(project, answer, explain))


def _why_nothing(project: Project, answer: BriefAnswer) -> str:
    if answer.left_out:
        return f"Of {answer.left_out} lines none fits into {answer.budget} tokens; raise `--budget`."
    away = project.db.execute("SELECT count(*) FROM live WHERE in_tree = 0").fetchone()[0]
    more = f" Of other branches there are {away}: `backstory publish` lists them." if away else ""
    return f"There is nothing to say: the memory holds nothing that is live, fresh and relevant here.{more}"


def _lines(project: Project, answer: BriefAnswer, explain: bool) -> Iterable[str]:
    if answer.text:
        yield clean(answer.text)
    if explain:
        yield from _explained(project, answer)


def _explained(project: Project, answer: BriefAnswer) -> Iterable[str]:
    from backstory.project.answers import one_view

    yield ""
    yield f"{answer.tokens} of {answer.budget} tokens (estimated from above)"
    yield f"left out: {answer.left_out}; stale and withheld: {answer.stale}"
    yield f"working set: {line_of(', '.join(answer.working_set)) or 'nothing is changing'}"
    for reason in answer.reasons:
        view = one_view(project, str(reason["id"]))
        why = []
        match = float(str(reason["file_match"]))
        if match:
            why.append("cites a file of the working set" if match >= 1 else "cites a file near the working set")
        if reason["event_match"]:
            why.append("came from work on the same files")
        if view.fields.get("pinned"):
            why.append("pinned")
        yield f"  {view.short}  {float(str(reason['score'])):5.2f}  {', '.join(why) or 'recent'}"
