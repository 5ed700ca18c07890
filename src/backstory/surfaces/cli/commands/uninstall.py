"""`backstory uninstall`: takes out what `install` wrote."""

from __future__ import annotations

import click

from backstory.surfaces.cli.previews import carry_out
from backstory.surfaces.cli.running import Run, make

_IDLE = "Nothing to do: there is nothing of ours in these files."


@make(
    "uninstall",
    "backstory uninstall                    # shows what would go, and asks",
    "backstory uninstall codex --yes",
    "backstory uninstall --user --dry-run",
)
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--user/--no-user", default=None, help="Your own files, or the project's (default: the project's).")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
def command(run: Run, clients: tuple[str, ...], user: bool | None, yes: bool, dry_run: bool) -> int:
    """Without CLIENT: all of them. A file that is as it was left gets its earlier bytes back, to the byte.

    One that was changed since loses our entries only. The memory itself is not touched.
    """
    from backstory.project.installing.choosing import select_all
    from backstory.project.installing.undoing import apply_removal, plan_removal

    planned = plan_removal(select_all(run.start, clients, user=user))
    return carry_out(run, planned.answer(), lambda: apply_removal(planned), yes=yes, dry_run=dry_run, idle=_IDLE)
