"""`backstory git-hooks uninstall`: takes our git hooks out."""

from __future__ import annotations

import click

from backstory.surfaces.cli.git_hooks import answer_lines
from backstory.surfaces.cli.running import Run, make


@make("git-hooks uninstall", "backstory git-hooks uninstall --dry-run", "backstory git-hooks uninstall")
@click.option("--dry-run", is_flag=True, help="Only show what would change, as a diff.")
def command(run: Run, dry_run: bool) -> None:
    """Every file is as it was before, byte for byte; hooks that were there before stand in their old place."""
    from backstory.project.git_hooks.changes import apply
    from backstory.project.git_hooks.removing import plan_uninstall

    outcome = apply(plan_uninstall(run.open().config.places), dry_run=dry_run)
    run.answer(outcome, lambda: answer_lines(outcome, "taken out"))
