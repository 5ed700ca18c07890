"""Starts a memory in a project: `init`."""

from __future__ import annotations

import os
import re

import msgspec

from backstory.config import (
    FOLDER,
    MARKER,
    Config,
    Places,
    find,
    home,
    projects_below,
    read_marker,
    surroundings,
    title_of,
)
from backstory.errors import BackstoryError, Exit
from backstory.log.lock import held
from backstory.project import known as known_projects
from backstory.records.ids import new_id

_ATTRIBUTES_TEXT = """\
# Lines of the log are appended, never changed: both sides of a merge are kept.
log/*.jsonl merge=union text eol=lf
"""


class Started(msgspec.Struct, frozen=True):
    """What `init` did: `files` are those it wrote, relative to the root where they lie in it."""

    root: str
    project: str
    name: str
    private: bool
    existed: bool
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    git: bool = True


def init(start: str, *, private: bool = False, name: str = "", now: int) -> Started:
    """Start a memory around `start`: at the top of the git work tree, or in the folder itself without git.

    Running it again changes nothing, and heals a work tree whose commit is older than the memory.
    """
    places = _place(start)
    known = find(start)
    if known is not None and known.root == places.root:
        return _again(known, private)
    title = title_of(name or os.path.basename(places.root))
    identity = new_id(now)
    text = _marker_text(identity, title, private)
    with held(places.shared_dir):
        written = []
        if places.twin:
            written.append(_write(places.twin, text))
        if not private or not places.twin:
            written.append(_write(os.path.join(places.root, FOLDER, MARKER), text))
            written.append(write_attributes(places))
    notes = [] if places.git_dir else ["no git here: freshness knows age and missing files, not commits"]
    shown = _shown(places.root, written)
    made = find(places.root)
    if made is not None:
        known_projects.remember(read_marker(made))
    return Started(places.root, identity, title, private, False, shown, tuple(notes), bool(places.git_dir))


def attributes_path(places: Places) -> str:
    """The file that tells git to keep both sides of a merge."""
    return os.path.join(places.root, FOLDER, ".gitattributes")


def write_attributes(places: Places) -> str:
    """Write that file; its path."""
    return _write(attributes_path(places), _ATTRIBUTES_TEXT)


def _place(start: str) -> Places:
    if not os.path.isdir(start):
        raise BackstoryError(f"{start} is no folder.", hint="Name the project's folder.")
    real = os.path.realpath(start)
    places = surroundings(start) or Places(real)
    if places.root == home() or os.path.dirname(places.root) == places.root:
        raise BackstoryError(
            f"{places.root} is no project: a memory there would take in every project below it.",
            hint="Go into the project's own folder and run `backstory init` there.",
            code=Exit.REFUSED,
        )
    if _bare(places) if places.git_dir else _is_git_dir(places.root):
        raise BackstoryError(
            f"{places.root} is a bare repository and has no files.",
            hint="Go into one of its work trees (`git worktree list`) and run `backstory init` there.",
            code=Exit.REFUSED,
        )
    below = [] if places.git_dir else projects_below(real, repositories=True)
    if len(below) > 1:
        listed = "\n".join(f"  {path}" for path in below)
        raise BackstoryError(
            f"{real} is above several projects:\n{listed}",
            hint="Run `backstory init` in one of them.",
            code=Exit.REFUSED,
        )
    return places


def _bare(places: Places) -> bool:
    """Whether the git dir belongs to no work tree: `.git` points at a bare repository itself."""
    if places.git_dir != places.common_dir:
        return False
    try:
        with open(os.path.join(places.git_dir, "config"), encoding="utf-8", errors="replace") as file:
            return re.search(r"^\s*bare\s*=\s*true\s*$", file.read(), re.MULTILINE) is not None
    except OSError:
        return False


def _is_git_dir(folder: str) -> bool:
    """Whether a folder is a repository itself, as `git init --bare` makes it."""
    parts = ("objects", "refs")
    return os.path.isfile(os.path.join(folder, "HEAD")) and all(
        os.path.isdir(os.path.join(folder, part)) for part in parts
    )


def _again(places: Places, private: bool) -> Started:
    config = read_marker(places)
    if private and not config.private:
        raise BackstoryError(
            f"{places.root} has a shared memory already; it cannot become private.",
            hint="Use a fresh clone for a private memory.",
            code=Exit.REFUSED,
        )
    written = []
    if places.twin and not os.path.exists(places.twin):
        written.append(_write(places.twin, _marker_text(config.project, config.name, config.private)))
    known_projects.remember(config)
    return Started(places.root, config.project, config.name, config.private, True, _shown(places.root, written))


def remember_twin(config: Config) -> None:
    """Keep the marker's twin beside the journal, so that older commits and linked work trees find the project."""
    places = config.places
    if not places.twin or os.path.exists(places.twin):
        return
    try:
        _write(places.twin, _marker_text(config.project, config.name, config.private))
    except BackstoryError:
        return


def _marker_text(project: str, name: str, private: bool) -> str:
    lines = [
        "# The identity and the settings of this project's memory. Commit it.",
        f'id = "{project}"',
        f"name = {_quoted(name)}",
        *(["private = true"] if private else []),
        "",
        "# [brief]",
        "# budget = 250          # tokens",
        "# [freshness]",
        "# churn_commits = 3",
        "# decay_days = { decision = 90, trial = 180, hotfile = 30, pattern = 60, issuenote = 14 }",
        "",
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write(path: str, text: str) -> str:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be written ({error.strerror}).",
            hint="Make the folder writable, then run `backstory init` again.",
            code=Exit.REFUSED,
        ) from error
    return path


def _shown(root: str, paths: list[str]) -> tuple[str, ...]:
    return tuple(os.path.relpath(path, root).replace(os.sep, "/") if path.startswith(root) else path for path in paths)
