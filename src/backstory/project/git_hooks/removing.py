"""Plans taking the git hooks out again, and says how they stand.

Promise: what was there before `install` is there again, byte for byte and with its mode. What somebody has written
into one of our files since stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from backstory.config import Places
from backstory.project.git_hooks import blocks, scripts
from backstory.project.git_hooks.changes import Change, Plan, mode_of, read, text_of
from backstory.project.git_hooks.installing import is_managed, put_away
from backstory.project.git_hooks.places import CONFIGS, HUSKY, LEGACY, OLD, HookPlace, find_place
from backstory.project.git_hooks.scripts import BEFORE, HOOKS


class HookState(msgspec.Struct, frozen=True):
    """One hook: `state` is installed, chained (another one runs first), absent, or other (somebody else's alone)."""

    name: str
    state: str
    path: str


class GitHooks(msgspec.Struct, frozen=True):
    """How the hooks of a clone stand. `launcher` is good, absent, or broken: what it would start is gone."""

    manager: str
    folder: str
    launcher: str
    blocks: bool
    hooks: tuple[HookState, ...]


def plan_uninstall(places: Places) -> Plan:
    """What has to change so that everything is as it was before `install`."""
    place = find_place(places)
    notes: list[str] = []
    changes = [change for path in _possible(place) for change in _taken_out(path)]
    launcher = read(place.launcher)
    if launcher is not None:
        changes.append(Change(place.launcher, launcher, None, why="what the hooks called"))
    handled = {change.path for change in changes}
    for name in HOOKS:
        kept = os.path.join(place.folder, name) + BEFORE
        if os.path.lexists(kept) and kept not in handled:
            notes.append(f"{kept} was left: {name} beside it is not ours, or holds more than our lines")
    return Plan(place, tuple(changes), tuple(notes))


def how_they_stand(places: Places) -> GitHooks:
    """The state of each hook; changes nothing."""
    place = find_place(places)
    launcher = text_of(read(place.launcher))
    state = "absent" if not launcher else "good" if all(map(os.path.exists, scripts.started(launcher))) else "broken"
    hooks = tuple(_state(place, name) for name in HOOKS)
    return GitHooks(place.manager, place.folder, state, scripts.blocks(launcher), hooks)


def _state(place: HookPlace, name: str) -> HookState:
    path = os.path.join(place.folder, name)
    if place.manager == HUSKY:
        path = os.path.join(place.config, name)
    elif away := put_away(place, name):
        path = away
    elif is_managed(place, name):
        path = place.config
    data = read(path)
    if data is None:
        return HookState(name, "absent", path)
    if not blocks.holds(data):
        return HookState(name, "absent" if path == place.config else "other", path)
    alone = blocks.take_out(data) is None and not os.path.lexists(_name(path) + BEFORE)
    return HookState(name, "installed" if alone or path == place.config else "chained", path)


def _taken_out(path: str) -> Iterator[Change]:
    data = read(path)
    if data is None or not blocks.holds(data):
        return
    left, kept = blocks.take_out(data), _name(path) + BEFORE
    if left is None and os.path.lexists(kept):
        yield Change(kept, read(kept), None, moved_to=path, why="what was there before")
    else:
        yield Change(path, data, left, mode_of(path), why="our part")


def _possible(place: HookPlace) -> list[str]:
    """Every file that an installation of any kind may have touched: managers come and go."""
    own = os.path.join(os.path.dirname(os.path.dirname(place.launcher)), "hooks")
    folders = (place.folder, own, os.path.join(place.root, ".husky"))
    names = [name + ending for name in HOOKS for ending in ("", LEGACY, OLD)]
    found = [os.path.join(folder, name) for folder in folders for name in names]
    return list(dict.fromkeys([*found, *(os.path.join(place.root, name) for name in CONFIGS)]))


def _name(path: str) -> str:
    """The path of a hook that a manager may have put away."""
    return path.removesuffix(LEGACY).removesuffix(OLD)
