"""The machine: SQLite, git, and the folder that remembers what was seen last."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile

from backstory.config import state_dir
from backstory.project.doctoring.finding import ADVICE, BAD, GOOD, Check

MIN_SQLITE = (3, 37, 0)


def checks() -> list[Check]:
    """What the memory needs of the machine."""
    version = f"SQLite {sqlite3.sqlite_version}"
    found = [
        Check("sqlite", GOOD, version)
        if sqlite3.sqlite_version_info >= MIN_SQLITE
        else Check("sqlite", BAD, f"{version}; 3.37 is needed", "use a newer Python")
    ]
    if shutil.which("git") is None:
        found.append(Check("git", ADVICE, "git is not on PATH: freshness and branches are not known", "install git"))
    return [*found, _state()]


def _state() -> Check:
    folder = state_dir()
    try:
        if os.path.isdir(folder):
            with tempfile.TemporaryFile(dir=folder):
                pass
        elif not os.access(_above(folder), os.W_OK | os.X_OK):
            raise PermissionError(None, "its parent is read-only")
    except OSError as error:
        message = f"{folder} cannot be written ({error.strerror}): a rolled back store would go unnoticed"
        return Check("state", ADVICE, message, "make the folder writable")
    return Check("state", GOOD, f"{folder} can be written")


def _above(folder: str) -> str:
    """The nearest folder above that exists; it is not made for a question."""
    while not os.path.exists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder
