"""A project that was opened for one command: configuration, index, clock, and what has to be said beside the answer."""

from __future__ import annotations

import sqlite3
import time
from types import TracebackType

from backstory.config import Config
from backstory.index import store
from backstory.sources.git.head import branch_name

NOTES = store.NOTES


class Project:
    """An open project. `now` is in microseconds, passed in. `notices` are lines for stderr; close it after use."""

    def __init__(self, config: Config, db: sqlite3.Connection, now: int) -> None:
        self.config, self.db, self.now = config, db, now
        self.notices: list[str] = []

    def __enter__(self) -> Project:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the index back."""
        self.db.close()

    @property
    def root(self) -> str:
        """The work tree's folder."""
        return self.config.root

    def problem_count(self) -> int:
        """How many things the last read of the files found wrong; notes aside."""
        return store.problem_count(self.db)

    @property
    def projects(self) -> tuple[str, ...]:
        """The ids that lines of this log may be bound to."""
        return (self.config.project, *self.config.also)

    @property
    def branch(self) -> str:
        """The branch's name; `(detached)` off any branch, `` without git."""
        if not self.config.places.git_dir:
            return ""
        return branch_name(self.config.places.git_dir) or "(detached)"


def now_micros() -> int:
    """The clock, read once per command."""
    return time.time_ns() // 1000
