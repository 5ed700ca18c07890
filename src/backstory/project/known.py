"""The projects of this machine that a server has answered for: what an unclear call is answered with.

A list and no more: nothing is chosen by it, and no call without a project becomes a call for one of these. One small
file for each project in the user's state folder, so that two that write at once lose nothing; a file that is missing,
unreadable or out of date costs only a line of the list.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from hashlib import blake2b

from backstory.config import Config, find, state_dir

MOST = 50


def remember(config: Config) -> None:
    """Put a project on the list. One that cannot be written stays off it."""
    folder = _folder()
    path = _path(config.root)
    text = json.dumps({"root": config.root, "id": config.project})
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except (OSError, ValueError):
        pass
    aside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(aside, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(aside, path)
    except OSError:
        return


def known() -> list[str]:
    """The folders on the list that still have a memory, sorted, at most 50."""
    found = set()
    for name in _names():
        try:
            with open(os.path.join(_folder(), name), encoding="utf-8") as file:
                root = json.load(file)["root"]
            places = find(root) if os.path.isdir(root) else None
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if places is not None and places.root == root:
            found.add(root)
    return sorted(found)[:MOST]


def places_of(ids: Collection[str]) -> list[str]:
    """Every folder that a project with one of these ids was seen in, those that are gone too, sorted."""
    return sorted({root for id_, root in everything() if id_ in ids})


def everything() -> list[tuple[str, str]]:
    """(id, folder) of all that is on the list, whatever is there now, sorted."""
    found = set()
    for name in _names():
        try:
            with open(os.path.join(_folder(), name), encoding="utf-8") as file:
                told = json.load(file)
            found.add((str(told["id"]), str(told["root"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return sorted(found)


def drop(root: str) -> None:
    """Take a folder off the list."""
    try:
        os.unlink(_path(root))
    except OSError:
        return


def _path(root: str) -> str:
    name = blake2b(os.fsencode(os.path.normcase(root)), digest_size=10).hexdigest()
    return os.path.join(_folder(), f"{name}.json")


def _folder() -> str:
    return os.path.join(state_dir(), "projects")


def _names() -> list[str]:
    try:
        return sorted(name for name in os.listdir(_folder()) if name.endswith(".json"))
    except OSError:
        return []
