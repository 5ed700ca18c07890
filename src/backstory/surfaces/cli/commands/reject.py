"""`backstory reject`: a value was wrong and must not come back."""

from __future__ import annotations

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.judging import operate, why
from backstory.surfaces.cli.recording import notes
from backstory.surfaces.cli.running import Run, make


@make(
    "reject",
    'backstory reject 7K3QZP --why "it was never measured"',
    'backstory reject --value "The API is rate limited" --why "it is not"',
)
@click.argument("id", required=False, metavar="[ID]")
@click.option("--value", metavar="TEXT", help="The value itself, when no entry carries it.")
@why("Why it is wrong (needed).")
def command(run: Run, id: str | None, value: str | None, reason: str) -> None:
    """Whoever writes the value again is refused, until a person lifts the rejection. It outlives every rebuild."""
    if (id is None) == (value is None):
        raise BackstoryError(
            "Reject an entry or a value, one at a time.",
            hint='`backstory reject ID --why "reason"`, or `backstory reject --value "text" --why "reason"`.',
        )
    if id is not None:
        operate(run, "reject", id, reason=reason)
        return
    from backstory.project.operations import reject_value

    outcome = reject_value(run.open(), run.by(), value or "", reason)
    run.answer(outcome, lambda: ["Rejected a value", *notes(outcome)])
