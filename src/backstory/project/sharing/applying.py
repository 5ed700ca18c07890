"""How many lessons of other projects apply to a project: what `init` says."""

from __future__ import annotations

from backstory.errors import BackstoryError
from backstory.project.currency import machine_stamp
from backstory.project.refresh import open_project
from backstory.recall import lessons


def count_applying(root: str) -> int:
    """The lessons whose libraries and versions match what the project at `root` depends on."""
    if not machine_stamp():
        return 0
    try:
        with open_project(root) as project:
            return lessons.count(project.db, project.now)
    except BackstoryError:
        return 0
