"""`backstory sessions search`: where words were said or run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import tell
from backstory.surfaces.cli.filters import limit, window
from backstory.surfaces.cli.input import end_of, start_of
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sessions import as_it_is, client, passage_line, up_to_date


@make("sessions search", "backstory sessions search flaky login test", "backstory sessions search retry --path src/net")
@click.argument("words", nargs=-1, required=True, metavar="WORDS")
@client
@click.option("--path", metavar="PATH", help="Only where this file or folder was touched.")
@window
@as_it_is
@limit(10)
def command(
    run: Run, words: Sequence[str], client: str, path: str | None, since: str | None, until: str | None, as_is: bool,
    limit: int,
) -> None:  # fmt: skip
    """What a person asked, what the agent said, and commands that ran; plain words, no syntax."""
    from backstory.project.sessions.answers import found

    query = " ".join(words).strip()
    if not query:
        raise BackstoryError("There are no words to search for.", hint="`backstory sessions list` lists every session.")
    project = up_to_date(run, as_is)
    answer = found(
        project, query, limit=limit, client=client, path=run.inside(path),
        since=start_of(since, "--since"), until=end_of(until, "--until"),
    )  # fmt: skip
    run.answer(answer, lambda: map(passage_line, answer.passages))
    if run.as_json:
        return
    if not answer.passages:
        tell("Nothing like that was said in the sessions on this machine.")
    else:
        tell("`backstory sessions show SESSION --turn N` shows the text.")
