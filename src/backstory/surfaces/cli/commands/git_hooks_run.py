"""`backstory git-hook NAME`: what a hook does, for managers that start programs from PATH."""

from __future__ import annotations

import click

from backstory.surfaces.cli.running import Run, make


@make(
    "git-hooks run", "backstory git-hooks run pre-commit", "backstory git-hook post-checkout OLD NEW 1",
    project=False, json=False,
)  # fmt: skip
@click.option("--block", is_flag=True, help="Exit 1 when a finding at block level is in the commit.")
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(run: Run, block: bool, name: str, args: tuple[str, ...]) -> int:
    """Ends in time, says what it found on stderr, and exits 0 whatever happens; see --block."""
    from backstory.project.git_hooks.installing import start

    return start(name, args, block=block)
