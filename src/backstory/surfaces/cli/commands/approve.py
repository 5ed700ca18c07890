"""`backstory approve`: a person's yes."""

from __future__ import annotations

from backstory.surfaces.cli.judging import operate, target, why
from backstory.surfaces.cli.running import Run, make


@make("approve", "backstory approve 7K3QZP", "backstory review   # walks through all that waits")
@target
@why("Why.")
def command(run: Run, id: str, reason: str) -> None:
    """What was proposed counts from now on, as confirmed."""
    operate(run, "approve", id, reason=reason)
