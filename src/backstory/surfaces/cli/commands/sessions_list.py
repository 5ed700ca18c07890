"""`backstory sessions list`: what agents did in this project."""

from __future__ import annotations

import click

from backstory.surfaces.cli.console import tell
from backstory.surfaces.cli.filters import limit, window
from backstory.surfaces.cli.input import end_of, start_of
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sessions import as_it_is, client, session_line, up_to_date


@make("sessions list", "backstory sessions list", "backstory sessions list --path src/db.py --since 2026-11-01")
@client
@click.option("--path", metavar="PATH", help="Only sessions that touched this file or folder.")
@click.option("--branch", default="", metavar="NAME", help="Only sessions on this branch.")
@click.option("--agents", is_flag=True, help="Sub-agents too.")
@window
@as_it_is
@limit(20)
def command(
    run: Run, client: str, path: str | None, branch: str, agents: bool, since: str | None, until: str | None,
    as_is: bool, limit: int,
) -> None:  # fmt: skip
    """The newest first, from the transcripts that clients keep on this machine. Nothing of them is committed."""
    from backstory.project.sessions.answers import listed

    project = up_to_date(run, as_is)
    found = listed(
        project, limit=limit, client=client, path=run.inside(path) or "", branch=branch, agents=agents,
        since=start_of(since, "--since"), until=end_of(until, "--until"),
    )  # fmt: skip
    run.answer(found, lambda: map(session_line, found.sessions))
    if run.as_json:
        return
    if not found.sessions:
        tell("There is no such session in the transcripts on this machine.")
    elif found.more:
        tell(f"There is more than these {limit}; `--limit N` shows it.")
