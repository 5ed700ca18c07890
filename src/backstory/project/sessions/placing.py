"""Where a call of a transcript ran, and what of it is this project's: one rule for the archive and for stories."""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol

from backstory.sources.transcripts.commands import Line, understood
from backstory.sources.transcripts.stream import Call


class Owning(Protocol):
    """Whose a folder or a file is: `project.sessions.owning.Owner`."""

    def owns(self, folder: str) -> bool:
        """Whether work in this folder is work on this project."""
        ...

    def relative(self, path: str, cwd: str) -> str:
        """`path` from the project's root, "" for one that is not this project's."""
        ...


class Placed(NamedTuple):
    """`folder` is absolute, `line` what its command says, `paths` those of this project, from its root.

    `is_own`: it ran in this project and names no files but of this project, or none.
    """

    folder: str
    line: Line | None
    paths: tuple[str, ...]
    is_own: bool


def placed(owner: Owning, call: Call, folder: str) -> Placed:
    """A call of a session that is in `folder`."""
    cwd = call.cwd or folder
    line = understood(call.command) if call.command else None
    if line and line.folder:
        cwd = os.path.normpath(os.path.join(cwd, os.path.expanduser(line.folder)))
    paths = tuple(inside for path in call.paths if (inside := owner.relative(path, cwd)))
    return Placed(cwd, line, paths, owner.owns(cwd) and (not call.paths or bool(paths)))


def folder_inside(owner: Owning, folder: str) -> str:
    """A folder from the project's root, "" for the root itself and for one that is not this project's."""
    return owner.relative(os.path.join(folder, "x"), "").removesuffix("x").rstrip("/")
