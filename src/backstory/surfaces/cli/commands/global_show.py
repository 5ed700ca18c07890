"""`backstory global show`: one shared lesson."""

from __future__ import annotations

from backstory.surfaces.cli.judging import target
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sharing import lesson_full, warn


@make("global show", "backstory global show 7K3QZP", project=False)
@target
def command(run: Run, id: str) -> None:
    """Where it comes from, who shared it, and what was said about it since."""
    from backstory.project.opened import now_micros
    from backstory.project.sharing.answers import shown

    now = now_micros()
    detail = shown(now, id)
    run.answer(detail, lambda: lesson_full(detail))
    warn(now)
