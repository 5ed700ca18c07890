"""The projects of this machine by id, with the places that they were seen in: listed, forgotten, looked for.

A list and no more, as in `known`: nothing is chosen by it, and no project is ever the active one. A place that is gone
or holds something else now is said; where the same project is known elsewhere, that is named, and nothing is guessed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

import msgspec

from backstory.config import find, read_marker
from backstory.errors import BackstoryError
from backstory.project import known
from backstory.project.mapping.tree import FOREIGN

# A scan looks this deep, and at no more folders.
DEPTH, MOST_FOLDERS = 6, 50_000
HERE, MOVED, GONE, EMPTY, OTHER = "here", "moved", "gone", "no memory", "another project"


class KnownProject(msgspec.Struct, frozen=True):
    """A project at a place. `state`: here; moved (the folder is gone, the project is known `elsewhere`); gone; no
    memory (the folder holds none any more); another project (the folder holds another one now).
    """

    id: str
    name: str
    root: str
    state: str
    elsewhere: tuple[str, ...] = ()


def listed() -> list[KnownProject]:
    """Every place on the list, by id."""
    places = known.everything()
    states = {root: _look(root, id_) for id_, root in places}
    found = []
    for id_, root in places:
        state, name = states[root]
        others = tuple(other for one, other in places if one == id_ and other != root and states[other][0] == HERE)
        found.append(KnownProject(id_, name, root, MOVED if state == GONE and others else state, others))
    return sorted(found, key=lambda item: (item.id, item.root))


def forget(target: str) -> list[KnownProject]:
    """Take a project (by id or its end) or a place (by path) off the list; no memory is touched."""
    path = os.path.realpath(target)
    name = target.strip().upper()
    found = [item for item in listed() if item.root in (path, target)]
    found = found or [item for item in listed() if len(name) >= 6 and item.id.endswith(name)]
    if not found:
        raise BackstoryError(
            f"{target[:200]!r} is on no list of projects.", hint="`backstory projects list` shows ids and places."
        )
    for item in found:
        known.drop(item.root)
    return found


def scan(folder: str) -> list[KnownProject]:
    """The projects below `folder` that are not on the list yet. Puts none on it."""
    if not os.path.isdir(folder):
        raise BackstoryError(f"{folder} is no folder.", hint="Name a folder to look in.")
    have = set(known.everything())
    found = []
    for root in _below(os.path.realpath(folder)):
        state = find(root)
        if state is None or state.root != root:
            continue
        try:
            config = read_marker(state)
        except BackstoryError:
            continue
        if (config.project, root) not in have:
            found.append(KnownProject(config.project, config.name, root, HERE))
    return found


def keep(found: list[KnownProject]) -> None:
    """Put what a scan found on the list."""
    for item in found:
        places = find(item.root)
        if places is not None:
            known.remember(read_marker(places))


def _look(root: str, id_: str) -> tuple[str, str]:
    """What is at a place now, and the name of the project there."""
    if not os.path.isdir(root):
        return GONE, ""
    places = find(root)
    if places is None or places.root != root:
        return EMPTY, ""
    try:
        config = read_marker(places)
    except BackstoryError:
        return EMPTY, ""
    return (HERE if id_ in (config.project, *config.also) else OTHER), config.name


def _below(top: str) -> Iterator[str]:
    base = top.rstrip(os.sep).count(os.sep)
    for folder, names, _ in islice(os.walk(top), MOST_FOLDERS):
        yield folder
        deep = folder.rstrip(os.sep).count(os.sep) - base >= DEPTH
        names[:] = [] if deep else sorted(n for n in names if not n.startswith(".") and n not in FOREIGN)
