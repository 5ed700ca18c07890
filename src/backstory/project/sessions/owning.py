"""Which project a folder or a file of a transcript belongs to.

Promise: nothing of another project enters. A path belongs to the project whose marker stands nearest above it, links
followed; a path that is gone belongs to this one only where it lay below a folder that this machine knows as a place
of this project's id, or below a folder of it that is still there. The name of a transcript's own folder says nothing.
"""

from __future__ import annotations

import os

from backstory.config import FOLDER, Config, Places, find, read_marker
from backstory.errors import BackstoryError
from backstory.project import known

# Paths whose place is remembered: a session names the same ones again and again.
_REMEMBERED = 10_000


class Owner:
    """Answers for one project; every folder and path is judged once."""

    def __init__(self, config: Config) -> None:
        self.ids = {config.project, *config.also}
        self.root = config.root
        # Folders that this project was seen in, the longest first: the moved and the deleted among them too.
        places = {config.root, *known.places_of(self.ids)}
        self.former = sorted((place for place in places if not os.path.isdir(place)), key=len, reverse=True)
        self._roots: dict[str, str] = {}
        self._markers: dict[str, bool] = {}
        self._inside: dict[tuple[str, str], str] = {}
        self._reals: dict[str, str] = {}

    def root_of(self, folder: str) -> str:
        """The root of this project that `folder` (absolute) lies in, "" where it is not this project's."""
        if folder not in self._roots:
            self._roots[folder] = self._root_of(folder) if _is_absolute(folder) else ""
        return self._roots[folder]

    def owns(self, folder: str) -> bool:
        """Whether work in this folder is work on this project."""
        return bool(folder) and bool(self.root_of(folder))

    def relative(self, path: str, cwd: str) -> str:
        """`path` from the project's root, with `/`; "" for one that is not this project's, or that is the root."""
        known = self._inside.get((path, cwd))
        if known is None:
            if len(self._inside) >= _REMEMBERED:
                self._inside.clear()
            known = self._inside[path, cwd] = self._relative(path, cwd)
        return known

    def _real(self, folder: str) -> str:
        if folder not in self._reals:
            self._reals[folder] = os.path.realpath(folder) if os.path.isdir(folder) else folder
        return self._reals[folder]

    def _relative(self, path: str, cwd: str) -> str:
        if not path or "\0" in path:
            return ""
        if not _is_absolute(path):
            if not _is_absolute(cwd):
                return ""
            path = os.path.join(cwd, path)
        path = os.path.normpath(path)
        folder, name = os.path.split(path)
        root = self.root_of(folder)
        if not root:
            return ""
        # The folder may be reached through a link; the file itself is what was named.
        inside = os.path.relpath(os.path.join(self._real(folder), name), root).replace(os.sep, "/")
        return "" if inside == "." or inside.startswith("../") or inside.startswith(".git/") else inside

    def _root_of(self, folder: str) -> str:
        if os.path.isdir(folder):
            above = os.path.dirname(folder)
            # What stands in a folder decides; where nothing does, the folder above has the answer, asked once for all.
            inside = folder.startswith(self.root + os.sep) and self.root_of(above)
            if inside and not any(map(os.path.lexists, _signs(folder))):
                return inside
            places = find(folder)
            return places.root if places is not None and self._ours(places) else ""
        for place in self.former:
            if folder == place or folder.startswith(place + os.sep):
                return place
        # A folder inside of the project that is gone. Its nearest folder that is left must lie in the project.
        places = find(folder)
        if places is None or not self._ours(places):
            return ""
        return places.root if _below(os.path.normpath(folder), places.root) else ""

    def _ours(self, places: Places) -> bool:
        if places.marker not in self._markers:
            try:
                config = read_marker(places)
                self._markers[places.marker] = bool({config.project, *config.also} & self.ids)
            except BackstoryError:
                self._markers[places.marker] = False
        return self._markers[places.marker]


def _signs(folder: str) -> tuple[str, str, str]:
    """What would make a folder a project of its own, or lead elsewhere."""
    target = folder if os.path.islink(folder) else ""
    return os.path.join(folder, ".git"), os.path.join(folder, FOLDER), target


def _is_absolute(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path


def _below(path: str, root: str) -> bool:
    """Whether a path that is gone lies below `root`, by whichever name its existing part has."""
    missing = []
    while not os.path.isdir(path):
        path, name = os.path.split(path)
        missing.append(name)
    real = os.path.realpath(path)
    return real == root or real.startswith(root + os.sep)
