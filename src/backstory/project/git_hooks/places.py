"""Who manages the hooks of a clone, and which folder git runs them from."""

from __future__ import annotations

import os

import msgspec

from backstory.config import Places
from backstory.errors import BackstoryError, Exit
from backstory.project.git_hooks.scripts import HOOKS, LAUNCHER
from backstory.sources.git.run import git

HUSKY, LEFTHOOK, PRE_COMMIT = "husky", "lefthook", "pre-commit"
_LEFTHOOK_STEMS = ("lefthook", ".lefthook", ".config/lefthook")
_LEFTHOOK_FILES = tuple(f"{stem}.{ending}" for stem in _LEFTHOOK_STEMS for ending in ("yml", "yaml", "toml", "json"))
_PRE_COMMIT_FILES = (".pre-commit-config.yaml", ".pre-commit-config.yml")
# Every file of a manager that may carry a block of ours.
CONFIGS = (*_LEFTHOOK_FILES, *_PRE_COMMIT_FILES)
# The names under which managers put away a hook that they find: pre-commit goes on running it, lefthook does not.
LEGACY, OLD = ".legacy", ".old"
# What stands in the hook files that managers write.
_GENERATED = {LEFTHOOK: b"lefthook", PRE_COMMIT: b"pre-commit.com"}
_GENERATED_BY_PREK = b"prek"


class HookPlace(msgspec.Struct, frozen=True):
    """Where hooks go. `own`: the folder is the clone's own (nothing in it is committed).

    `manager` is husky, lefthook, pre-commit or ""; `config` is its file, or for husky its folder. `outside`: the folder
    lies outside the repository and serves others too. `launcher` is the file that all hooks call.
    """

    root: str
    folder: str
    launcher: str
    own: bool
    outside: bool
    manager: str = ""
    config: str = ""
    notes: tuple[str, ...] = ()


def find_place(places: Places) -> HookPlace:
    """The place for the hooks of a clone; `BackstoryError` without git."""
    if not places.git_dir:
        raise BackstoryError(
            f"{places.root} is no git work tree, so there is nothing to hook into.",
            hint="Run `git init` first, or do without git hooks.",
            code=Exit.REFUSED,
        )
    folder = _hooks_folder(places)
    own = os.path.realpath(folder) == os.path.join(places.common_dir, "hooks")
    outside = not own and not any(_below(folder, top) for top in (places.root, places.common_dir))
    manager, config, notes = _manager(places.root, folder, own)
    if outside:
        notes += (f"{folder} serves every repository that names it; where backstory is not set up it does nothing",)
    launcher = os.path.join(places.common_dir, "backstory", LAUNCHER)
    return HookPlace(places.root, folder, launcher, own, outside, manager, config, notes)


def generated_by(data: bytes) -> str:
    """The manager that wrote a hook file, or ""."""
    if _GENERATED_BY_PREK in data and b"hook-impl" in data:
        return PRE_COMMIT
    return next((name for name, mark in _GENERATED.items() if mark in data), "")


def _hooks_folder(places: Places) -> str:
    result = git(["rev-parse", "--git-path", "hooks"], places.root, timeout=10.0)
    if result.code != 0:
        said = result.err.decode("utf-8", "replace").strip()[:300] or "git did not answer"
        raise BackstoryError(
            f"git cannot say where its hooks are: {said}",
            hint="`git rev-parse --git-path hooks` in the project has to work.",
            code=Exit.REFUSED,
        )
    told = result.out.decode("utf-8", "surrogateescape").rstrip("\n")
    return os.path.normpath(os.path.join(places.root, os.path.expanduser(told)))


def _manager(root: str, folder: str, own: bool) -> tuple[str, str, tuple[str, ...]]:
    husky = os.path.join(root, ".husky")
    if os.path.normpath(folder) == os.path.join(husky, "_"):
        return HUSKY, husky, ()
    if own and os.path.isdir(husky):
        return HUSKY, husky, ("husky is not active in this clone yet: its `prepare` script (`npx husky`) does that",)
    lefthook = _first(root, _LEFTHOOK_FILES)
    if lefthook:
        return LEFTHOOK, lefthook, ()
    config = _first(root, _PRE_COMMIT_FILES)
    if config and not own:
        return "", "", ()
    if config and any(generated_by(_start_of(os.path.join(folder, name))) == PRE_COMMIT for name in HOOKS):
        return PRE_COMMIT, config, ()
    if config:
        # Later `pre-commit install` keeps our hook as `.legacy` and runs it.
        return "", "", ("pre-commit is configured but not installed in this clone: the hooks stand beside it",)
    return "", "", ()


def _first(root: str, names: tuple[str, ...]) -> str:
    return next((path for name in names if os.path.isfile(path := os.path.join(root, name))), "")


def _start_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def _below(path: str, top: str) -> bool:
    return bool(top) and os.path.realpath(path).startswith(os.path.realpath(top).rstrip(os.sep) + os.sep)
