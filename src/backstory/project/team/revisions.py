"""The memory as it is at a commit: its log, read from git's objects and folded in an index of its own, in memory.

Nothing is checked out and no file of the project is touched. Freshness is not asked for: a commit alone has no files.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from backstory.config import FOLDER, MARKER, Places, read_marker
from backstory.errors import BackstoryError, Exit
from backstory.index import build
from backstory.project.opened import Project
from backstory.project.refresh import bring_up_to_date
from backstory.sources.git.blobs import show
from backstory.sources.git.run import git

_LOG = f"{FOLDER}/log"


def commit_of(project: Project, revision: str) -> str:
    """The full id of a commit; `BackstoryError` for a name that git does not know."""
    if project.config.places.git_dir and revision and not revision.startswith("-"):
        result = git(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"], project.root)
        if result.code == 0:
            return result.out.decode("ascii").strip()
    raise BackstoryError(
        f"git knows no commit {revision[:80]!r} here.",
        hint="Name a branch, a tag or a commit; `git fetch` brings those of others.",
        code=Exit.USAGE,
    )


@contextmanager
def memory_at(project: Project, commit: str) -> Iterator[Project]:
    """The memory at a commit, open for reading; an empty one where the commit has none."""
    with tempfile.TemporaryDirectory(prefix="backstory-at-") as folder:
        places = Places(folder)
        places.marker = os.path.join(folder, FOLDER, MARKER)
        marker = show(project.root, f"{commit}:{FOLDER}/{MARKER}") or _marker(project)
        _put(places.marker, marker)
        for name in _shards(project.root, commit):
            _put(os.path.join(folder, FOLDER, "log", name), show(project.root, f"{commit}:{_LOG}/{name}") or b"")
        there = Project(read_marker(places), build.in_memory(), project.now)
        try:
            bring_up_to_date(there)
            yield there
        finally:
            there.close()


def _marker(project: Project) -> bytes:
    with open(project.config.places.marker, "rb") as file:
        return file.read()


def _shards(root: str, commit: str) -> list[str]:
    result = git(["ls-tree", "--name-only", "-z", commit, f"{_LOG}/"], root)
    names = result.out.decode("utf-8", "surrogateescape").split("\0") if result.code == 0 else []
    return [os.path.basename(name) for name in names if name.endswith(".jsonl")]


def _put(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
