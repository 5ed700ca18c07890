"""The files of a project with their sizes: of the commit that is checked out, or of the folder where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from backstory.config import FOLDER
from backstory.sources.git.run import git

SECONDS, LIMIT_BYTES = 30.0, 64 << 20
# More files than this are not counted by walking: a folder without git may be anything.
MOST_WALKED = 20_000
# Folders that hold what others wrote, or what can be made again.
FOREIGN = frozenset(
    "node_modules bower_components vendor third_party site-packages venv env virtualenv __pycache__ target dist build"
    " out coverage".split()
)


class Tree(NamedTuple):
    """Paths with `/` and their sizes in bytes, sorted; `note` is "" or what is missing."""

    files: dict[str, int]
    note: str = ""


def of_commit(root: str, head: str) -> Tree:
    """The files of a commit; links, submodules and the memory itself are left out."""
    done = git(["ls-tree", "-r", "-l", "-z", "--full-tree", head], root, timeout=SECONDS, limit=LIMIT_BYTES)
    if done.code != 0:
        return Tree({}, f"git could not list the files of {head[:12]}")
    return Tree(dict(_listed(done.out)))


def _listed(out: bytes) -> Iterator[tuple[str, int]]:
    for line in out.split(b"\0"):
        about, _, name = line.partition(b"\t")
        parts = about.split()
        if len(parts) == 4 and parts[0] in (b"100644", b"100755") and parts[3].isdigit():
            path = name.decode("utf-8", "backslashreplace")
            if not path.startswith(f"{FOLDER}/"):
                yield path, int(parts[3])


def of_folder(root: str) -> Tree:
    """The files below a folder, hidden and foreign folders left out."""
    found: dict[str, int] = {}
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in FOREIGN)
        for name in sorted(files):
            full = os.path.join(folder, name)
            if os.path.islink(full):
                continue
            found[os.path.relpath(full, root).replace(os.sep, "/")] = _size(full)
            if len(found) >= MOST_WALKED:
                return Tree(found, f"only the first {MOST_WALKED:,} files were counted")
    return Tree(found, "no commit here: what lies in the folder was counted")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def foreign(path: str) -> bool:
    """Whether a path lies in a folder of what others wrote."""
    return any(part in FOREIGN for part in path.split("/")[:-1])
