"""`backstory capture`: proposes what sessions learned."""

from __future__ import annotations

import os

import click

from backstory.surfaces.cli.asking_history import Counter
from backstory.surfaces.cli.capturing import captured_lines, refuse_if_off
from backstory.surfaces.cli.input import start_of
from backstory.surfaces.cli.running import Run, make


@make("capture", "backstory capture --dry-run", "backstory capture --since 2026-11-01")
@click.option("--since", metavar="DAY", help="Only sessions that ended on this day or later.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing to the log.")
def command(run: Run, since: str | None, dry_run: bool) -> None:
    """From the transcripts on this machine, with the place that shows it; no model is asked.

    What structure alone shows (a command failed, files changed, it passed) counts at once; the rest is proposed.
    """
    from backstory.project.capture.running import capture

    project = run.open()
    with Counter() as counter:
        done = capture(
            project, os.environ, os.path.expanduser("~"), since=start_of(since, "--since"), dry_run=dry_run,
            progress=lambda at, of: counter("sessions", at, of),
        )  # fmt: skip
    refuse_if_off(done)
    run.answer(done, lambda: captured_lines(done))
