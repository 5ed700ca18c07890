"""Where decision records lie, and which of them a link means."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from urllib.parse import unquote

from backstory.sources.skipped import Skipped, Warned
from backstory.sources.ticket_places import shown

DEFAULT_FOLDERS = (
    "docs/adr",
    "docs/adrs",
    "adr",
    "doc/adr",
    "docs/decisions",
    "docs/architecture/decisions",
    "docs/architecture/adr",
    "doc/architecture/decisions",
    "docs/decision-records",
    "docs/*/adr",
    "docs/*/adrs",
    "docs/*/decisions",
    "backlog/decisions",
)

_ENDINGS = (".md", ".markdown", ".mdx")
_DEPTH = 16
_NO_RECORDS = re.compile(
    r"_?(?:readme|index|template|toc|contents|summary|changelog|about|log)(?:[-_.].*)?|.*[-_.]template(?:[-_.].*)?|0+",
    re.I,
)
FILE_NUMBER = re.compile(r"(?:adr[-_ ]?)?(\d{1,9})(?!\d)", re.I)
_TARGET = re.compile(
    r"\[\[(?P<wiki>[^\]|#]{1,200})[^\]]{0,200}\]\]|!?\[[^\[\]]{0,200}\]\(<?(?P<link>[^()<>\s]{1,400})>?[^()]{0,200}\)|"
    r"(?P<file>[\w./-]{1,200}\.md)\b|\bADR[-\s#]*(?P<adr>\d{1,9})\b|#?(?P<number>\d{1,9})(?![\w/]|[.-]\w)",
    re.I,
)
_BETWEEN = re.compile(r"(?:[\s*_:,;&(\u3001\uff1a-]|\b(?:and|by|the|records?|decisions?|adrs)\b)*", re.I)


def discover(root: str, folders: Sequence[str]) -> tuple[list[str], list[Skipped | Warned]]:
    """The paths of what may be records, and what was left out."""
    paths: set[str] = set()
    problems: list[Skipped | Warned] = []
    for folder in chain(DEFAULT_FOLDERS, folders):
        parts = [part for part in folder.replace("\\", "/").split("/") if part not in ("", ".")]
        if ".." in parts or folder.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", folder):
            problems.append(Warned(shown(folder), 0, "a place outside of the project, which is not read"))
            continue
        for place in _matching(root, "", parts, problems):
            _walk(root, place, paths, problems)
    return sorted(paths), problems


def _matching(root: str, path: str, parts: list[str], problems: list[Skipped | Warned]) -> Iterator[str]:
    if not parts:
        yield path
        return
    for entry in _entries(root, path, problems):
        if fnmatchcase(entry.name.lower(), parts[0].lower()) and _is_folder(entry):
            yield from _matching(root, posixpath.join(path, entry.name), parts[1:], problems)


def _walk(root: str, path: str, paths: set[str], problems: list[Skipped | Warned], depth: int = 0) -> None:
    for entry in _entries(root, path, problems):
        inside, lower = posixpath.join(path, entry.name), entry.name.lower()
        if lower.startswith(".") or lower in ("assets", "images", "node_modules", "templates"):
            continue
        if _is_folder(entry):
            if depth < _DEPTH:
                _walk(root, inside, paths, problems, depth + 1)
        elif lower.endswith(_ENDINGS):
            if entry.is_symlink():
                problems.append(Skipped(shown(inside), 0, "a symbolic link, which is not followed"))
            elif _NO_RECORDS.fullmatch(os.path.splitext(lower)[0]):
                problems.append(Skipped(shown(inside), 0, "no decision record: it speaks about the folder"))
            else:
                paths.add(inside)


def _entries(root: str, path: str, problems: list[Skipped | Warned]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(root, path)) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError) as error:
        problems.append(Skipped(shown(path), 0, f"it cannot be read ({getattr(error, 'strerror', None) or error})"))
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


class Places:
    """The records by path, by name and by number."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = set(paths)
        self._named: defaultdict[str, list[str]] = defaultdict(list)
        self._numbered: defaultdict[int, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            name = posixpath.basename(path)
            self._named[name].append(path)
            self._named[os.path.splitext(name)[0]].append(path)
            number = FILE_NUMBER.match(name)
            if number:
                self._numbered[int(number[1])].append(path)

    def find(self, target: str, origin: str) -> list[str]:
        """The one record that a target in the file `origin` means; none where it is unclear."""
        target = unquote(re.split("[#?]", target.strip(), maxsplit=1)[0]).strip("/ ")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        for exact in (path, f"{path}.md", posixpath.normpath(target or ".")):
            if exact in self._paths:
                return [exact]
        name = posixpath.basename(target)
        number = FILE_NUMBER.fullmatch(target)
        found = self._numbered[int(number[1])] if number else self._named[name]
        near = [path for path in found if posixpath.dirname(path) == posixpath.dirname(origin)] or found
        return near if len(near) == 1 else []


def targets_after(text: str) -> list[str]:
    """The links, names and numbers that follow each other at the beginning of the text."""
    found: list[str] = []
    at = 0
    while True:
        between = _BETWEEN.match(text, at)
        match = _TARGET.match(text, between.end() if between else at)
        if not match:
            return found
        found.append(_target(match))
        at = match.end()


def targets_in(text: str) -> list[str]:
    """The links and names anywhere in the text; a bare number is none."""
    return [_target(match) for match in _TARGET.finditer(text) if not match["number"]]


def _target(match: re.Match[str]) -> str:
    return str(match[str(match.lastgroup)])
