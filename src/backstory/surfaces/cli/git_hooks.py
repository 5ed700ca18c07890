"""How installing and taking out of git hooks is told."""

from __future__ import annotations

from collections.abc import Iterator

from backstory.surfaces.cli.console import clean, line_of, tell, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.git_hooks.changes import HooksOutcome


def answer_lines(outcome: HooksOutcome, done: str) -> Iterator[str]:
    """What was or would be changed; notes go to stderr."""
    if not outcome.changed:
        yield f"Nothing to do: the git hooks are {done} already."
    elif outcome.dry_run:
        yield from clean(outcome.diff).splitlines()
    else:
        yield f"Git hooks {done}:"
        yield from (f"  {line_of(change)}" for change in outcome.changed)
        if outcome.blocks:
            yield "A finding at block level stops a commit from now on."
    for note in outcome.notes:
        tell(wrap(f"note: {line_of(note)}", 2))
