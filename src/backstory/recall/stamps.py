"""Cited files: their lines, and whether one is still as it was when it was judged. Light: a hook imports it."""

from __future__ import annotations

import os

MAX_FILE_BYTES = 4 << 20


def file_stamp(full: str) -> str:
    """Size and mtime of a cited file: another value means that its anchor must be judged again."""
    try:
        status = os.stat(full)
    except OSError:
        return "gone"
    return f"{status.st_size}:{status.st_mtime_ns}"


def file_moved(full: str, mark: str) -> bool:
    """Whether a cited file is no longer as it was when it was judged.

    `mark` is `+` or `-` (presence), a stamp, or `*` for a file that is never judged.
    """
    if mark == "*":
        return False
    if mark in ("+", "-"):
        return os.path.lexists(full) != (mark == "+")
    return file_stamp(full) != mark


def read_lines(root: str, path: str) -> list[str] | None:
    """The lines of a file of the project; None when it is missing, too large or no text."""
    try:
        full = os.path.join(root, path)
        if not os.path.isfile(full) or os.path.getsize(full) > MAX_FILE_BYTES:
            return None
        with open(full, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace").splitlines()
