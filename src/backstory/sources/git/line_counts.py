"""How many lines each commit added to and removed from each file: six times the cost of naming the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

from backstory.sources.git.log import PLAIN
from backstory.sources.git.stream import fields_of

_COUNT = re.compile(r"\n?(\d+|-)\t(\d+|-)\t(.*)", re.DOTALL)

Counted = tuple[str, str, int | None, int | None]
"""Commit, path after the commit, lines added, lines removed; None for a binary file."""


def line_counts(root: str, include: str, exclude: str | None = None) -> Iterator[Counted]:
    """The counts of every commit reachable from `include` and not from `exclude`; `GitFailed` as for `commits`."""
    without = [f"^{exclude}"] if exclude else []
    arguments = ["log", "--numstat", "-M", "--root", *PLAIN, "--format=%H", include, *without, "--"]
    with closing(fields_of(arguments, root)) as tokens:
        sha = ""
        for token in tokens:
            found = _COUNT.fullmatch(token)
            if found is None:
                sha = token.strip() or sha
                continue
            path = found[3]
            if not path:  # a rename: the old name and the new one follow
                next(tokens, "")
                path = next(tokens, "")
            yield sha, path, _number(found[1]), _number(found[2])


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)
