"""Stamps of cited files: whether one is still as it was when it was judged. Light: a hook imports it."""

from __future__ import annotations

import os


def file_stamp(full: str) -> str:
    """Size and mtime of a cited file: another value means that its anchor must be judged again."""
    try:
        status = os.stat(full)
    except OSError:
        return "gone"
    return f"{status.st_size}:{status.st_mtime_ns}"


def file_moved(full: str, mark: str) -> bool:
    """Whether a cited file is no longer as it was when it was judged: `mark` is `+`, `-` (presence) or a stamp."""
    if mark in ("+", "-"):
        return os.path.lexists(full) != (mark == "+")
    return file_stamp(full) != mark
