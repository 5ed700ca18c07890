"""`backstory unshare`: takes a shared lesson back."""

from __future__ import annotations

from backstory.surfaces.cli.judging import target
from backstory.surfaces.cli.recording import notes
from backstory.surfaces.cli.running import Run, make


@make("unshare", "backstory unshare 7K3QZP")
@target
def command(run: Run, id: str) -> None:
    """No other project sees it from then on. One whose project is gone can be taken back from any project."""
    from backstory.project.sharing.sharing import unshare

    outcome = unshare(run.open(), run.by(), id)
    run.answer(outcome, lambda: [f"Took back {outcome.kind} {outcome.id[-6:]}", *notes(outcome)])
