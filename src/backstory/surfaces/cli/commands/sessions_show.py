"""`backstory sessions show`: one session whole, or one turn of it word for word."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import block, clean, paint, tell
from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sessions import as_it_is, detail_lines, up_to_date


@make("sessions show", "backstory sessions show 1f0c3a9b", "backstory sessions show 1f0c3a9b --turn 3")
@click.argument("session", metavar="SESSION")
@click.option("--turn", type=Count(0, 1_000_000), metavar="N", help="The text of this turn, from the transcript.")
@as_it_is
def command(run: Run, session: str, turn: int | None, as_is: bool) -> None:
    """SESSION is an id or its beginning: what was asked and done, what failed, which entries came of it."""
    from backstory.project.sessions.answers import excerpt, shown

    project = up_to_date(run, as_is)
    detail = shown(project, session)
    if turn is None:
        run.answer(detail, lambda: detail_lines(detail))
        return
    lines = excerpt(project, session, turn)
    run.answer([{"who": who, "text": text} for who, text in lines], lambda: _quoted(lines))
    if not lines and not run.as_json:
        tell(f"Its transcript is gone: {detail.session.transcript}")


def _quoted(lines: list[tuple[str, str]]) -> Iterable[str]:
    for who, text in lines:
        yield paint(f"{who}:", "bold")
        yield block(clean(text), 2)
