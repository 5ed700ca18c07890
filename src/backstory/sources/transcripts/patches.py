"""Changes that agents write as text: SEARCH and REPLACE blocks, and the patch that begins with `*** Begin Patch`.

Shapes: Cline (`------- SEARCH`, `=======`, `+++++++ REPLACE`; formerly `<<<<<<< SEARCH`, `>>>>>>> REPLACE`), Roo (the
same, with `:start_line:` and a line of dashes below SEARCH), Aider (the same, the file's name above the block).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

BEGINS = re.compile(r"(?:<{5,}|-{5,}) ?SEARCH>?\s*")
_MIDDLE = re.compile(r"={5,}\s*")
ENDS = re.compile(r"(?:>{5,}|\+{5,}) ?REPLACE<?\s*")
_HEAD = re.compile(r":(?:start|end)_line: ?\d+\s*|-{5,}\s*")
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+?)\s*$")


class Block(NamedTuple):
    """One change: `line` is where its SEARCH stands, counted from 0."""

    line: int
    old: str
    new: str


class Change(NamedTuple):
    """One file of a patch. `old` is None for a new file, `moved` where it went to."""

    path: str
    old: str | None
    new: str
    gone: bool
    moved: str


def blocks(lines: list[str]) -> Iterator[Block]:
    """The whole SEARCH and REPLACE blocks among lines that have no ends; one that is cut gives nothing."""
    old: list[str] | None = None
    new: list[str] | None = None
    at = 0
    for index, line in enumerate(lines):
        if BEGINS.fullmatch(line):
            old, new, at = [], None, index
        elif old is not None and new is None:
            if _MIDDLE.fullmatch(line):
                new = []
            elif old or not _HEAD.fullmatch(line):
                old.append(line)
        elif old is not None and new is not None:
            if ENDS.fullmatch(line):
                yield Block(at, "\n".join(old), "\n".join(new))
                old = new = None
            else:
                new.append(line)


def files(patch: str) -> Iterator[Change]:
    """The files of a patch, with the lines of each that were and will be there."""
    kind = path = moved = ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.split("\n"), "*** End Patch"]:
        begins = _FILE.match(line)
        if begins or line.startswith("*** End Patch"):
            if path:
                before = None if kind == "Add" or (kind == "Delete" and not old) else "\n".join(old)
                yield Change(path, before, "\n".join(new), kind == "Delete", moved)
            kind, path = begins.groups() if begins else ("", "")
            moved, old, new = "", [], []
        elif line.startswith("*** Move to: "):
            moved = line[len("*** Move to: ") :].strip()
        elif path and line[:1] in ("+", "-", " "):
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])
