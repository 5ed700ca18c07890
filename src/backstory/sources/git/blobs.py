"""File contents that the repository has, what it tracks, and whom its settings name."""

from __future__ import annotations

import hashlib

from backstory.sources.git.objects import resolve
from backstory.sources.git.run import git

# Well below the shortest command line that a system allows (32,767 characters on Windows).
_ARGUMENTS = 24_000


def blob_known(root: str, data: bytes) -> bool:
    """Whether exactly these bytes are a blob that the repository at `root` holds, on any branch or none.

    The bytes are taken as they are, so a file whose line ends git converts is not found by what lies on
    disk. In a partial clone a blob that was never fetched counts as not known.
    """
    blob = b"blob %d\0%b" % (len(data), data)
    # A repository has one kind of id; the other length is simply missing there.
    ids = [hashlib.new(kind, blob, usedforsecurity=False).hexdigest() for kind in ("sha1", "sha256")]
    found, _ = resolve(root, ids)
    return any(entry is not None and entry[0] in ids and entry[1] == "blob" for entry in found)


def show(root: str, rev_path: str, *, limit: int | None = None) -> bytes | None:
    """The content of `HEAD:path`, `:path` (the index) or an id; None if not here or over `limit` bytes."""
    if rev_path.startswith("-"):
        return None
    result = git(["cat-file", "blob", rev_path], root, limit=limit)
    return result.out if result.code == 0 else None


def tracked(root: str, paths: list[str]) -> set[str]:
    """Which of `paths`, relative to `root` and normalised, are files in the index."""
    inside = {path for path in paths if path and not path.startswith("/") and ".." not in path.split("/")}
    found: set[str] = set()
    for chunk in _chunks(sorted(inside)):
        result = git(["ls-files", "-z", "--", *chunk], root)
        found.update(result.out.decode("utf-8", "surrogateescape").split("\0"))
    return inside & found


def user_name(root: str) -> str | None:
    """`user.name` as git's settings give it for `root`."""
    return _setting(root, "user.name")


def user_email(root: str) -> str | None:
    """`user.email` as git's settings give it for `root`."""
    return _setting(root, "user.email")


def _setting(root: str, name: str) -> str | None:
    result = git(["config", "--get", name], root)
    return result.out.decode("utf-8", "replace").strip() or None if result.code == 0 else None


def _chunks(paths: list[str]) -> list[list[str]]:
    """The paths in groups that each fit a command line."""
    chunks: list[list[str]] = []
    room = 0
    for path in paths:
        room -= len(path.encode("utf-8", "surrogateescape")) + 3
        if room < 0:
            chunks.append([])
            room = _ARGUMENTS
        chunks[-1].append(path)
    return chunks
