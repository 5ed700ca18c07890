"""What history and search were made from, and what they would be made from now: a signature for each group.

A signature changes whenever what the group reads may have changed. It costs a walk over names, no file is opened.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from backstory.project.history import git_pass, sources
from backstory.project.opened import Project
from backstory.sources import decision_places, ticket_places

# The groups that search has documents or entries of; "reverts" are read from what "git" reads.
INDEXED = ("git", "reverts", "tickets", "prs", "decisions")
# In place of the signature of "git": search takes the words of its commits in when it is asked.
OWED = "owed"
_KEY = "history:"


def wanted(project: Project, ground: git_pass.Ground) -> dict[str, str]:
    """What each group would be made from now; `memory` and `themes` follow from the others."""
    root, settings = project.root, project.config.settings
    found, _ = ticket_places.discover(root, settings.tickets)
    tickets = _stamps(root, (item.path for item in found), settings.tickets)
    records, _ = decision_places.discover(root, settings.decisions)
    prs = sources.cached_files(project, sources.PULL_REQUESTS, settings.pull_requests)
    named = [item["path"] for item in settings.states]
    states = sources.cached_files(project, sources.STATES, named)
    return {
        "git": ground.signature,
        "tickets": tickets,
        "prs": _stamps(root, (path for path, _ in prs), settings.pull_requests),
        "states": _stamps(root, (path for path, _ in states), repr(settings.states), tickets),
        "decisions": _stamps(root, records, settings.decisions),
    }


def _stamps(root: str, paths: Iterable[str], *more: Any) -> str:
    """Changes with every file that comes, goes or is written."""
    digest = blake2b(repr(more).encode(), digest_size=12)
    for path in paths:
        digest.update(os.fsencode(path))
        try:
            status = os.lstat(os.path.join(root, path))
            digest.update(f"\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        except (OSError, ValueError):
            digest.update(b"\n")
    return digest.hexdigest()


def of_index(db: sqlite3.Connection) -> dict[str, str]:
    """What search was made from, by group."""
    rows = db.execute("SELECT key, value FROM index_meta WHERE key LIKE ?", (f"{_KEY}%",))
    return {key.removeprefix(_KEY): value for key, value in rows}


def note(db: sqlite3.Connection, group: str, signature: str) -> None:
    """Keep what a group of search was made from; "" while it is being made."""
    db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (_KEY + group, signature))


def forget(db: sqlite3.Connection) -> None:
    """Let every group of search be made anew."""
    db.execute("DELETE FROM index_meta WHERE key LIKE ?", (f"{_KEY}%",))
