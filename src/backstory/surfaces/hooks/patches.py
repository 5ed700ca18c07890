"""The patch text of `apply_patch`: which files it touches, and what it adds. Light: no `re`."""

from __future__ import annotations

_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")


def paths_of(patch: str) -> list[str]:
    """The files that the patch names, both names of one that is moved."""
    found: dict[str, None] = {}
    for line in patch.splitlines():
        for mark in _MARKS:
            if line.startswith(mark):
                found[line[len(mark) :].strip()] = None
    return list(found)


def added_by(patch: str) -> str:
    """The lines that the patch adds."""
    return "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
