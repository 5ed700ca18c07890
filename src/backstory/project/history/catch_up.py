"""Search knows the commits made since the history was read, without a refresh of everything.

Light while there is nothing to do: a search pays for two look-ups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backstory.history import store
from backstory.project.opened import Project

if TYPE_CHECKING:
    from backstory.project.history.git_pass import Ground
    from backstory.project.history.refresh import Progress

# New commits that search takes in by itself; more of them are a matter for a refresh.
MOST_NEW = 2_000


def catch_up_search(project: Project, *, progress: Progress | None = None) -> None:
    """Take in the commits that HEAD has now. Nothing happens where the history was never read."""
    query = "SELECT key, value FROM index_meta WHERE key IN ('history:git', 'git_head')"
    meta = dict(project.db.execute(query))
    known = meta.get("history:git", "")
    if known.endswith(f" {meta.get('git_head', '')}") or not (
        known or store.was_used(project.config.places.history_dir)
    ):
        return
    from backstory.project.history import git_pass

    ground = git_pass.ground(project)
    since = ground.since(project.root, known)
    if since == ground.head and since is not None:
        return
    if since is None or not _take_new(project, ground, since):
        from backstory.project.history.refresh import refresh

        refresh(project, all_words=True, progress=progress)


def _take_new(project: Project, ground: Ground, since: str) -> bool:
    """Take a few new commits in; False where they are many, or where one takes another back."""
    from backstory.project.history import git_pass, inputs
    from backstory.sources.git.log import commits

    found = list(commits(project.root, include=ground.head, exclude=since, max_count=MOST_NEW, messages=True))
    look = git_pass.Pass(project, ground)
    look.run(found, len(found))
    if look.claimed or len(found) >= MOST_NEW:
        return False
    # What a crash leaves half done is made anew.
    inputs.note(project.db, "git", "")
    git_pass.Pass(project, ground, index=project.db).run(found, len(found))
    inputs.note(project.db, "git", ground.signature)
    return True
