"""`backstory backfill`: takes in all that happened before the memory was there."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from backstory.surfaces.cli.asking_history import Counter
from backstory.surfaces.cli.capturing import captured_lines, refuse_if_off
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.capture.backfill import Backfilled


@make("backfill", "backstory backfill --dry-run", "backstory backfill")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing to the log.")
def command(run: Run, dry_run: bool) -> None:
    """All old transcripts on this machine and the whole git history. Stopped, it goes on where it stopped; a second
    run adds nothing.
    """
    from backstory.project.capture.backfill import backfill

    project = run.open()
    with Counter() as counter:
        done = backfill(project, os.environ, os.path.expanduser("~"), dry_run=dry_run, tell=counter)
    refuse_if_off(done.captured)
    run.answer(done, lambda: _lines(done))


def _lines(done: Backfilled) -> Iterable[str]:
    read = ", ".join(f"{count:,} of {client}" for client, count in done.transcripts.items()) or "none"
    yield f"Transcripts on this machine: {read}"
    since = f", the first from {done.oldest[:10]}" if done.oldest else ""
    yield f"Sessions of this project looked at: {done.captured.sessions:,}{since}"
    if not done.dry_run:
        yield f"Git: {done.commits:,} commits, {done.backed_out:,} attempts that were backed out"
    yield from captured_lines(done.captured)
    yield f"It took {done.seconds:,} s."
