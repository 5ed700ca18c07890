"""`backstory history refresh`: tickets, run records, git, pull requests and states in one place."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, paint, tell
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.history.refresh import Refreshed


@make("history refresh", "backstory history refresh", "backstory history refresh --rebuild")
@click.option("--rebuild", is_flag=True, help="Read everything again.")
@click.option("--yes", is_flag=True, help="Let a provider of embeddings be paid without a question.")
def command(run: Run, rebuild: bool, yes: bool) -> None:
    """Reads what changed since the last time. Every other history command does it by itself."""
    from backstory.project.history.meaning import prepare
    from backstory.project.history.refresh import refresh
    from backstory.surfaces.cli.asking_history import Counter, approved

    project = run.open()
    with Counter() as counter:
        done = refresh(
            project, rebuild=rebuild, progress=counter, meaning=prepare(project, lambda cost: approved(cost, yes))
        )
    run.answer(done, lambda: _lines(done))


def _lines(done: Refreshed) -> Iterable[str]:
    what = ", ".join(done.groups) if done.groups else "nothing had changed"
    yield f"{paint('The history is up to date', 'bold')} ({done.seconds:.1f} s; read: {what})"
    width = max(map(len, done.rows), default=0)
    for name, count in done.rows.items():
        if count:
            yield f"  {name:<{width}}  {count:>9,}"
    if done.words_owed:
        yield "  The first search takes in the words of the commits: some seconds, once."
    for note in done.notes:
        tell(line_of(note))
    odd = [f"{done.skipped} left out"] * bool(done.skipped) + [f"{done.warnings} read by a guess"] * bool(done.warnings)
    if odd:
        yield f'  {" and ".join(odd)}: `backstory history query "SELECT * FROM skipped"`'
