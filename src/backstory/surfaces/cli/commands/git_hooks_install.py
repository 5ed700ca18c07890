"""`backstory git-hooks install`: makes git call us."""

from __future__ import annotations

import click

from backstory.surfaces.cli.git_hooks import answer_lines
from backstory.surfaces.cli.running import Run, make


@make("git-hooks install", "backstory git-hooks install --dry-run", "backstory git-hooks install", json=True)
@click.option("--block", is_flag=True, help="Stop a commit when a finding at block level is in it.")
@click.option("--dry-run", is_flag=True, help="Only show what would change, as a diff.")
def command(run: Run, block: bool, dry_run: bool) -> None:
    """pre-commit checks what is staged and says what it finds; the others keep the index warm. No hook fails git.

    Hooks that are there keep running, first. core.hooksPath, husky, lefthook and pre-commit are respected. Nothing is
    staged. Running it again changes nothing, or takes over another interpreter.
    """
    from backstory.project.git_hooks.changes import apply
    from backstory.project.git_hooks.installing import plan_install

    outcome = apply(plan_install(run.open().config.places, block=block), dry_run=dry_run)
    run.answer(outcome, lambda: answer_lines(outcome, "installed"))
