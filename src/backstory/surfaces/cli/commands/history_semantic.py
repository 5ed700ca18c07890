"""`backstory history semantic`: the history by meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.asking_history import Counter, approved, as_it_is
from backstory.surfaces.cli.console import line_of, paint, tell, wrap
from backstory.surfaces.cli.filters import limit
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.history.meaning import NearAnswer


@make("history semantic", 'backstory history semantic "uploads that stop half-way"')
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@click.option("--yes", is_flag=True, help="Let a provider of embeddings be paid without a question.")
@as_it_is
@limit(10)
def command(run: Run, words: Sequence[str], yes: bool, as_is: bool, limit: int) -> None:
    """QUERY is a question in plain words. Needs the extra `semantic` or a provider; without either, words decide."""
    from backstory.project.history.asking import ensure
    from backstory.project.history.meaning import ask, prepare
    from backstory.project.history.refresh import refresh

    query = " ".join(words).strip()
    if not query:
        raise BackstoryError("There is nothing to look for.", hint="Say in a few words what you look for.")
    project = run.open()
    meaning = prepare(project, lambda cost: approved(cost, yes))
    with Counter() as counter:
        if as_is:
            ensure(project, up_to_date=False, progress=counter)
        else:
            refresh(project, progress=counter, meaning=meaning)
    answer = ask(project, query, meaning, limit=limit)
    run.answer(answer, lambda: _lines(answer))
    if answer.note:
        tell(line_of(answer.note))
    if not answer.hits and not run.as_json:
        tell("Nothing like that is in the history.")


def _lines(answer: NearAnswer) -> Iterable[str]:
    for hit in answer.hits:
        ref = hit.ref[:10] if hit.source == "commit" else hit.ref[-6:] if hit.source == "entry" else hit.ref
        near = f" {hit.similarity:.2f}" if hit.similarity is not None else ""
        head = line_of(f"{hit.source.replace('_', ' ')} {ref}{near}") + "  "
        yield paint(head, "dim") + wrap(line_of(hit.title), 4, len(head))
