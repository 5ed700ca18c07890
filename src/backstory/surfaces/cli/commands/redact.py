"""`backstory redact`: blanks the text of an entry in place."""

from __future__ import annotations

from backstory.surfaces.cli.judging import done, target, why
from backstory.surfaces.cli.running import Run, make


@make("redact", 'backstory redact 7K3QZP --why "it quotes a customer"')
@target
@why("Why the text must go (needed; it stays in the log).")
def command(run: Run, id: str, reason: str) -> None:
    """The text is gone from the log, the journal and every derived file; what git still holds is said."""
    from backstory.project.redaction import redact

    project = run.open()
    outcome = redact(project, run.by(), id, reason)
    run.answer(outcome, lambda: done(project, outcome, "redact"))
