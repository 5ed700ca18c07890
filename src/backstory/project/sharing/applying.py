"""Lessons of other projects that apply here: how many in all, and which of them a file is touched by.

A lesson touches a file that imports the library, or a manifest or lock file that names it. They are looked for only
where the index holds lessons: a project without any pays one look-up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from backstory.errors import BackstoryError
from backstory.project.currency import machine_stamp
from backstory.project.opened import Project
from backstory.project.refresh import open_project
from backstory.recall import lessons
from backstory.records.hostile import one_line
from backstory.records.times import format_instant
from backstory.sources.dependencies.usage import Usage

# Files that are looked into, of a change of many.
MOST_FILES = 200


class OthersLesson(msgspec.Struct, frozen=True):
    """A lesson of another project: data, and no entry of this one. `project` is the name of where it comes from.

    `backstory global show ID` shows it. `tags` say what keeps it from counting as plainly true.
    """

    id: str
    short: str
    project: str
    library: str
    summary: str
    at: str
    tags: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line: what it says, about which library, from where and how old."""
        tags = "".join(f" [{tag}]" for tag in self.tags)
        return f"Lesson from {self.project} on {self.library}: {self.summary}{tags} ({self.at[:10]}, {self.short})"


def touching(project: Project, paths: Iterable[str]) -> list[OthersLesson]:
    """The lessons that touch any of the files (relative to the project), the newest first, each once."""
    found = lessons.rows(project.db, project.now)
    if not found:
        return []
    uses = {path: Usage(project.root, path) for path in list(dict.fromkeys(paths))[:MOST_FILES]}
    made = []
    for row in found:
        files = tuple(path for path, usage in uses.items() if usage.library(row.library))
        if files:
            made.append(_lesson(row, files))
    return made


def fresh_about(db: sqlite3.Connection, root: str, path: str, now: int) -> list[tuple[str, str]]:
    """(mark, line) of those that touch one file and are neither stale nor in doubt, for an agent that reads it."""
    usage = Usage(root, path)
    found = (row for row in lessons.rows(db, now) if not row.stale and not row.contested)
    return [(row.id, _lesson(row, (path,)).text) for row in found if usage.library(row.library)]


def _lesson(row: lessons.Row, files: tuple[str, ...]) -> OthersLesson:
    tags = [*(["in doubt there"] if row.contested else []), *(["stale: age"] if row.stale else [])]
    return OthersLesson(
        id=row.id,
        short=row.id[-6:],
        project=one_line(row.project, 60),
        library=one_line(row.library, 80),
        summary=one_line(row.line, 300),
        at=format_instant(row.at),
        tags=tuple(tags),
        files=files,
    )


def count_applying(root: str) -> int:
    """The lessons whose libraries and versions match what the project at `root` depends on."""
    if not machine_stamp():
        return 0
    try:
        with open_project(root) as project:
            return lessons.count(project.db, project.now)
    except BackstoryError:
        return 0
