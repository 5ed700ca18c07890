"""The git hooks of the clone: whether what they start is there, and whether it answers."""

from __future__ import annotations

from backstory.config import Places
from backstory.errors import BackstoryError
from backstory.project.doctoring.finding import BAD, FIX, FIXED, GOOD, Check
from backstory.project.doctoring.processes import run
from backstory.project.git_hooks.places import find_place
from backstory.project.git_hooks.removing import how_they_stand

NAME = "git hooks"
SECONDS = 5.0
_STEP = "`backstory git-hooks install`"


def checks(places: Places, *, fix: bool) -> list[Check]:
    """Nothing where no hook of git calls us."""
    if not places.git_dir:
        return []
    try:
        found = how_they_stand(places)
        ours = [hook.name for hook in found.hooks if hook.state in ("installed", "chained")]
        if not ours:
            return []
        out = []
        if found.launcher != "good":
            if not fix:
                what = "is missing" if found.launcher == "absent" else "starts an interpreter or a file that is gone"
                return [Check(NAME, BAD, f"the launcher of the git hooks {what}, so that none does anything", FIX)]
            _install(places, block=found.blocks)
            out.append(Check(NAME, FIXED, "the launcher of the git hooks was written again"))
        return [*out, _tried(places, ours)]
    except BackstoryError as error:
        return [Check(NAME, BAD, error.message, error.hint)]


def _install(places: Places, *, block: bool) -> None:
    from backstory.project.git_hooks.changes import apply
    from backstory.project.git_hooks.installing import plan_install

    apply(plan_install(places, block=block))


def _tried(places: Places, ours: list[str]) -> Check:
    """Run the launcher as git would before a commit; with `--block` it may say no, which is an answer too."""
    launcher = find_place(places).launcher
    ran = run([launcher, "pre-commit"], b"", places.root, SECONDS)
    said = " ".join(ran.err.decode("utf-8", "replace").split())[-300:]
    if ran.late:
        return Check(NAME, BAD, f"the pre-commit hook did not end within {SECONDS:g} seconds", _STEP)
    if ran.code not in (0, 1) or "could not be read" in said:
        return Check(NAME, BAD, f"the pre-commit hook failed with exit code {ran.code}: {said}", _STEP)
    return Check(NAME, GOOD, f"{', '.join(ours)} call backstory, which answers within {ran.seconds:.2g} seconds")
