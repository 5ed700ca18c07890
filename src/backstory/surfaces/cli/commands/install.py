"""`backstory install`: brings the memory to the coding agents that are here."""

from __future__ import annotations

import click

from backstory.surfaces.cli.previews import carry_out
from backstory.surfaces.cli.running import Run, make

_IDLE = "Nothing to do: all of it is written already."


@make(
    "install",
    "backstory install                      # shows what it would write, and asks",
    "backstory install claude-code codex --yes",
    "backstory install cursor --user --no-hooks --dry-run",
)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--user/--no-user", default=None, help="Your own files, or the project's (default: the project's).")
@click.option("--hooks/--no-hooks", default=True, help="Hooks that hand over what is known.")
@click.option("--mcp/--no-mcp", default=True, help="The MCP server, for questions and records.")
@click.option("--instructions/--no-instructions", default=True, help="A marked block in AGENTS.md or CLAUDE.md.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
def command(
    run: Run,
    clients: tuple[str, ...],
    user: bool | None,
    hooks: bool,
    mcp: bool,
    instructions: bool,
    yes: bool,
    dry_run: bool,
) -> int:
    """Without CLIENT: all that are found here. Nothing is written before it was shown and agreed to.

    Comments, order and foreign entries stay; `backstory uninstall` puts the earlier bytes back. A private memory is
    installed into your own files, not the project's.
    """
    from backstory.project.installing.applying import apply
    from backstory.project.installing.choosing import select
    from backstory.project.installing.planning import plan

    roles = [name for name, on in (("mcp", mcp), ("hooks", hooks), ("instructions", instructions)) if on]
    planned = plan(select(run.start, clients, user=user, roles=roles))
    return carry_out(run, planned.answer(), lambda: apply(planned), yes=yes, dry_run=dry_run, idle=_IDLE)
