"""The uncommitted part of the working set: staged, unstaged and untracked paths, by one git process.

Light: it lies on the hook path.
"""

from __future__ import annotations

import time

from backstory.sources.git.run import GitResult, git

# Rename detection is spelled out because a setting could turn it off. Of a submodule only another
# commit counts: looking into its work tree costs a process for each.
_STATUS = ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"]
_OUTPUT_LIMIT = 1 << 24


class Changed:
    """The paths that differ from HEAD, relative to the top of the work tree, POSIX, sorted.

    Both paths of a rename are in `paths`; an untracked folder is one path that ends in `/`. Bytes that are
    not UTF-8 are kept as surrogate escapes. `renames` holds (old, new). `complete` is False if git failed
    or ran out of time; the paths are then only what is known.
    """

    __slots__ = ("complete", "paths", "renames")

    def __init__(self, paths: tuple[str, ...], renames: tuple[tuple[str, str], ...], *, complete: bool) -> None:
        self.paths = paths
        self.renames = renames
        self.complete = complete


def changed_paths(root: str, *, timeout: float, leave_out: str = "") -> Changed:
    """What `git status` says about the work tree that holds `root`, within `timeout` seconds.

    `leave_out`: a folder below `root` that is not looked at. Where a file of it and git's own index were written in the
    same second, git would read the whole file again on each call.
    """
    deadline = time.monotonic() + timeout
    plain = [] if not leave_out else ["--no-literal-pathspecs"]
    only = [] if not leave_out else ["--", ".", f":(exclude,literal){leave_out}"]
    result = git([*plain, *_STATUS, "--find-renames", *only], root, timeout=timeout, limit=_OUTPUT_LIMIT)
    if _lacks_objects(result):
        left = max(0.0, deadline - time.monotonic())
        result = git([*plain, *_STATUS, "--no-renames", *only], root, timeout=left, limit=_OUTPUT_LIMIT)
    paths, renames = _parse(result.out)
    return Changed(tuple(sorted(paths)), tuple(sorted(renames)), complete=result.code == 0)


def _lacks_objects(result: GitResult) -> bool:
    """Whether a partial clone lacked the content that rename detection compares."""
    return result.code == 128 and b"promisor" in result.err


def _parse(out: bytes) -> tuple[set[str], set[tuple[str, str]]]:
    """Paths and renames of porcelain v1 with NUL; a record cut off at the end is left out."""
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0")[:-1])
    paths: set[str] = set()
    renames: set[tuple[str, str]] = set()
    for field in fields:
        states, path = field[:2], field[3:]
        paths.add(path)
        if "R" in states:
            old = next(fields, "")
            if old:
                paths.add(old)
                renames.add((old, path))
        elif "C" in states:
            next(fields, "")  # the origin of a copy did not change
    return paths, renames
