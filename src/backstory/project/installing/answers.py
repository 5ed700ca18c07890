"""What `install` and `uninstall` answer with."""

from __future__ import annotations

import msgspec

CREATE, CHANGE, SAME, REFUSED, REMOVE, RESTORE = "create", "change", "same", "refused", "remove", "restore"


class FileChange(msgspec.Struct, frozen=True):
    """One file: `state` is create, change, same, refused, remove or restore; `diff` shows it, secrets left out."""

    path: str
    state: str
    clients: tuple[str, ...]
    diff: str = ""
    note: str = ""


class ClientNotes(msgspec.Struct, frozen=True):
    """A client, and what has to be known about it."""

    name: str
    title: str
    notes: tuple[str, ...]


class Installation(msgspec.Struct, frozen=True):
    """What is to be done, or with `applied` was done. `scope` is project or user; `root` is "" without a project."""

    scope: str
    root: str
    applied: bool
    clients: tuple[ClientNotes, ...]
    files: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> int:
        """How many files are to be written or removed."""
        return sum(file.state not in (SAME, REFUSED) for file in self.files)

    @property
    def refused(self) -> int:
        """How many files were left alone because they could not be edited."""
        return sum(file.state == REFUSED for file in self.files)
