"""`backstory git-hooks status`: how our git hooks stand."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.surfaces.cli.console import line_of
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.git_hooks.removing import GitHooks

_STATES = {
    "installed": "calls backstory",
    "chained": "runs what was there before, then backstory",
    "absent": "not installed",
    "other": "somebody else's; does not call backstory",
}
_LAUNCHERS = {
    "absent": "The launcher is missing, so no hook does anything; run `backstory git-hooks install`.",
    "broken": "The launcher's interpreter is gone, so no hook does anything; run `backstory git-hooks install`.",
}


@make("git-hooks status", "backstory git-hooks status")
def command(run: Run) -> None:
    """Each hook, where it is, and whether what it starts is still there."""
    from backstory.project.git_hooks.removing import how_they_stand

    found = how_they_stand(run.open().config.places)
    run.answer(found, lambda: _lines(found))


def _lines(found: GitHooks) -> Iterable[str]:
    through = f", managed by {found.manager}" if found.manager else ""
    yield f"Hooks in {line_of(found.folder)}{through}"
    for hook in found.hooks:
        yield f"  {hook.name:<14} {_STATES[hook.state]}"
    if any(hook.state in ("installed", "chained") for hook in found.hooks) and found.launcher in _LAUNCHERS:
        yield _LAUNCHERS[found.launcher]
    if found.blocks:
        yield "A finding at block level stops a commit."
