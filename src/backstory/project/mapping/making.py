"""Makes the map, and keeps it beside the index for as long as the commit and the manifests are the same.

The listing of a commit's files is what takes time (0.4 s at 60,000 files); what is kept is read in a millisecond. The
map is a pure function of the commit and of the manifests as they lie in the work tree.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from backstory.project.mapping import manifests
from backstory.project.mapping.answer import Command, EntryPoint, Package, ProjectMap
from backstory.project.mapping.languages import folders, languages
from backstory.project.mapping.tree import Tree, foreign, of_commit, of_folder
from backstory.project.opened import Project
from backstory.sources.git.head import head_id

FILE, VERSION = "map.json", 2
MOST_MANIFESTS, DEEPEST = 200, 4
MOST: dict[type[msgspec.Struct], int] = {Package: 40, EntryPoint: 30, Command: 40}
Kind = TypeVar("Kind", Package, EntryPoint, Command)
_ORDER = ("test", "build", "check", "run", "other")


class _Kept(msgspec.Struct):
    """The file: `stamps` are size and time of each manifest, [] for one that was looked for and is not there."""

    version: int
    head: str
    stamps: dict[str, list[int]]
    map: ProjectMap


def project_map(project: Project) -> ProjectMap:
    """The map of the project as it stands now."""
    places = project.config.places
    head = (head_id(places.git_dir, places.common_dir, project.root) or "") if places.git_dir else ""
    if not head:
        return _made(project.root, "", of_folder(project.root))[0]
    path = os.path.join(places.derived_dir, FILE)
    kept = _kept(path)
    if kept and kept.version == VERSION and kept.head == head and kept.stamps == _stamps(project.root, kept.stamps):
        return kept.map
    made, looked_at = _made(project.root, head, of_commit(project.root, head))
    _keep(path, _Kept(VERSION, head, _stamps(project.root, looked_at), made))
    return made


def _made(root: str, head: str, tree: Tree) -> tuple[ProjectMap, list[str]]:
    # A manifest at the top counts before it is committed.
    own = [path for path in tree.files if manifests.reader(path) and path.count("/") < DEEPEST and not foreign(path)]
    paths = list(dict.fromkeys([*sorted(manifests.NAMES), *sorted(own, key=lambda path: (path.count("/"), path))]))
    notes = [tree.note] if tree.note else []
    if len(own) > MOST_MANIFESTS:
        notes.append(f"of {len(own)} manifests the {MOST_MANIFESTS} nearest to the top were read")
        paths = paths[: MOST_MANIFESTS + len(manifests.NAMES)]
    facts = list(dict.fromkeys(_facts(root, paths, tree.files, notes)))
    commands = sorted(_of(facts, Command, notes), key=lambda item: (_ORDER.index(item.purpose), item.folder))
    made = ProjectMap(
        head,
        len(tree.files),
        sum(tree.files.values()),
        languages(tree.files),
        tuple(_of(facts, Package, notes)),
        tuple(_of(facts, EntryPoint, notes)),
        tuple(commands),
        folders(tree.files),
        tuple(notes),
    )
    return made, paths


def _facts(root: str, paths: Iterable[str], files: dict[str, int], notes: list[str]) -> Iterable[manifests.Fact]:
    for path in paths:
        reads, text = manifests.reader(path), manifests.read(root, path)
        if reads is None or text is None:
            continue
        try:
            yield from list(reads(manifests.Place(path, path.rpartition("/")[0], text, files.keys())))
        except (ValueError, TypeError, RecursionError) as error:
            notes.append(f"{path} cannot be read: {str(error)[:200]}")
    for path in files:
        if path.endswith("/__main__.py") and path.count("/") < DEEPEST and not foreign(path):
            folder = path.rpartition("/")[0]
            yield EntryPoint(f"python -m {folder.removeprefix('src/').replace('/', '.')}", path, path)


def _of(facts: list[manifests.Fact], kind: type[Kind], notes: list[str]) -> list[Kind]:
    found = [fact for fact in facts if isinstance(fact, kind)]
    if len(found) > MOST[kind]:
        notes.append(f"{len(found) - MOST[kind]} more of {kind.__name__.lower()} were left out")
    return found[: MOST[kind]]


def _stamps(root: str, paths: Iterable[str]) -> dict[str, list[int]]:
    stamps: dict[str, list[int]] = {}
    for path in paths:
        try:
            status = os.stat(os.path.join(root, *path.split("/")))
            stamps[path] = [status.st_size, status.st_mtime_ns]
        except OSError:
            stamps[path] = []
    return stamps


def _kept(path: str) -> _Kept | None:
    """What was kept; None when it is missing or not whole: then it is made anew, which costs nobody a word."""
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=_Kept)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def _keep(path: str, kept: _Kept) -> None:
    """Keep it, where the folder can be written; else it is made anew each time."""
    aside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(aside, "wb") as file:
            file.write(msgspec.json.encode(kept))
        os.replace(aside, path)
    except OSError:
        try:
            os.unlink(aside)
        except OSError:
            pass
