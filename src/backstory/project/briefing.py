"""The brief as an answer: for the working set that git and the last session give, or for named paths."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from backstory.project.opened import Project
from backstory.project.refresh import recheck
from backstory.project.working_set import working_set
from backstory.recall import brief as brief_module


class BriefAnswer(msgspec.Struct, frozen=True):
    """The brief as a session gets it ("" when there is nothing to say), and why each line is in it."""

    text: str
    tokens: int
    budget: int
    stale: int
    left_out: int
    ids: tuple[str, ...]
    working_set: tuple[str, ...]
    reasons: tuple[dict[str, object], ...]


def brief(
    project: Project, *, paths: Sequence[str] = (), budget: int = 0, cwd: str = "", session: str = ""
) -> BriefAnswer:
    """The brief for the working set: what git and the last session say, or the `paths` that are named."""
    from backstory.project.paths import relative

    named = tuple(relative(project.root, path, cwd) for path in paths)
    files = named or working_set(project.db, project.root, project.config.places.git_dir, seconds=5.0)
    settings = project.config.settings

    def make() -> brief_module.Brief:
        return brief_module.make(project.db, project.config.name, files, settings, project.now, budget, session)

    made = make()
    if recheck(project, [*made.ids, *brief_module.withheld(project.db)]):
        made = make()
    reasons = tuple(
        {"id": id_, "score": round(score, 4), "file_match": match, "event_match": event}
        for id_, _, score, match, event in made.lines
    )
    return BriefAnswer(
        made.text,
        made.tokens,
        budget or settings.brief_tokens,
        made.stale,
        made.left_out,
        tuple(made.ids),
        files,
        reasons,
    )
