"""Keeps a project open from one call to the next, in a process that answers many.

Opening costs 3 ms more than going on: SQLite reads the schema and the search index anew. Whether the index is current
is asked before every answer all the same, so what is kept decides how fast an answer comes, never what it says. The
index is let go when its file was deleted, replaced or made by another version, when it could not be used, and after
any failure. On Windows nothing is kept: an open file cannot be deleted there, and derived files can be at any time.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from backstory.config import Config
from backstory.project.opened import Project, now_micros
from backstory.project.refresh import bring_up_to_date, open_config


class Keeper:
    """At most one open project. Not for two threads at a time."""

    def __init__(self) -> None:
        self._kept: Project | None = None
        self._mark: tuple[object, ...] = ()

    @contextmanager
    def opened(self, config: Config) -> Iterator[Project]:
        """The project of `config`, its index current."""
        project = self._again(config) or open_config(config)
        try:
            yield project
        except BaseException:
            project.close()
            raise
        self._keep(project)

    def _again(self, config: Config) -> Project | None:
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        if kept.config.places.index_path != config.places.index_path or _mark(kept) != self._mark:
            kept.close()
            return None
        project = Project(config, kept.db, now_micros())
        bring_up_to_date(project)
        return project

    def _keep(self, project: Project) -> None:
        self._mark = _mark(project)
        if not self._mark or os.name == "nt":
            project.close()
            return
        self._kept = project


def _mark(project: Project) -> tuple[object, ...]:
    """What stays the same as long as the open index is the one that others see; () when it is in memory or gone."""
    try:
        file = project.db.execute("PRAGMA database_list").fetchone()[2]
        found = os.stat(file)
        version = project.db.execute("PRAGMA user_version").fetchone()[0]
        # The file itself changes when somebody copies the write-ahead log into it: rare, and then it is opened anew.
        return file, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, version
    except (OSError, sqlite3.Error):
        return ()
