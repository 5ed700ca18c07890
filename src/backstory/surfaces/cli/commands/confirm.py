"""`backstory confirm`: an entry still holds."""

from __future__ import annotations

from backstory.surfaces.cli.judging import operate, target, why
from backstory.surfaces.cli.running import Run, make


@make("confirm", "backstory confirm 7K3QZP")
@target
@why("What showed it.")
def command(run: Run, id: str, reason: str) -> None:
    """Its age starts anew. An agent's word counts once per session, a person's makes it confirmed."""
    operate(run, "confirm", id, reason=reason)
