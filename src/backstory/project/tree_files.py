"""Files of the tree that are not our own: tickets and run records are written here, and nowhere else.

Promises:

* A new file never takes the place of another one, whoever makes that one at the same moment.
* An existing file is replaced whole or not at all, and only while it still holds what was read.
* Nothing is written through a symbolic link, so nothing outside of the project is touched.
"""

from __future__ import annotations

import os
import stat

from backstory.errors import BackstoryError, Exit
from backstory.sources.ticket_places import MAX_BYTES, shown

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Git's own folder and the memory's: a ticket there would break the one and be taken for a part of the other.
_FOREIGN = (".git", ".backstory")


def create(root: str, path: str, text: str) -> list[str]:
    """Write a new file; the folders that had to be made for it, outermost first. `BackstoryError` to refuse."""
    _refuse_place(root, path)
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_BYTES:
        raise _not_written(
            f"{shown(path)} would be larger than 1 MiB", "Say less, and cite a file that holds the rest."
        )
    full, made = os.path.join(root, path), _missing_folders(root, path)
    if os.path.lexists(full):
        raise _not_written(f"{shown(path)} exists already", "Move what is there, or give the new one another name.")
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        handle = os.open(full, _FLAGS, 0o644)
    except OSError as error:
        remove_folders(root, made)
        raise _unwritable(path, error) from error
    try:
        _fill(handle, data)
    except OSError as error:
        undo(root, path, made)
        raise _unwritable(path, error) from error
    return made


def undo(root: str, path: str, made: list[str]) -> None:
    """Take back a `create`."""
    try:
        os.unlink(os.path.join(root, path))
    except OSError:
        return
    remove_folders(root, made)


def remove_folders(root: str, made: list[str]) -> None:
    """Remove folders that hold nothing, innermost first."""
    for folder in reversed(made):
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return


def read_bytes(root: str, path: str) -> bytes:
    """What a file holds; `BackstoryError` if it cannot be read, or is larger than the readers take."""
    _refuse_place(root, path)
    try:
        with open(os.path.join(root, path), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BackstoryError(
            f"{shown(path)} cannot be read ({error.strerror}).", hint="Make it readable, then run the command again."
        ) from error
    if len(data) > MAX_BYTES:
        raise _not_written(f"{shown(path)} is larger than 1 MiB", "Move what is not of the run to another file.")
    return data


def replace(root: str, path: str, before: bytes, after: bytes) -> None:
    """Write `after` in the place of `before`, all at once; mode bits stay. `BackstoryError` to refuse."""
    _refuse_place(root, path)
    full = os.path.join(root, path)
    if not os.access(full, os.W_OK):
        raise _not_written(f"{shown(path)} is read-only", "Make it writable, then run the command again.")
    folder, name = os.path.split(full)
    aside = os.path.join(folder, f".{name[:80]}.{os.getpid()}.tmp")
    try:
        mode = stat.S_IMODE(os.stat(full).st_mode)
        _fill(os.open(aside, _FLAGS, 0o600), after)
        os.chmod(aside, mode)
        if read_bytes(root, path) != before:
            raise _not_written(f"{shown(path)} was changed meanwhile", "Run the command again.")
        os.replace(aside, full)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        try:
            os.unlink(aside)
        except OSError:
            pass


def _fill(handle: int, data: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _missing_folders(root: str, path: str) -> list[str]:
    parts = path.split("/")[:-1]
    folders = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return [folder for folder in folders if not os.path.lexists(os.path.join(root, folder))]


def _refuse_place(root: str, path: str) -> None:
    parts = path.split("/")
    if not path or path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise _not_written(f"{shown(path)!r} is no file of this project", "Name a place inside of the project.")
    if any(part.lower() in _FOREIGN for part in parts):
        raise _not_written(f"{shown(path)} lies in a folder that is not for tickets", "Name another one.")
    for end in range(1, len(parts) + 1):
        place = "/".join(parts[:end])
        if os.path.islink(os.path.join(root, place)):
            raise _not_written(
                f"{shown(place)} is a symbolic link, which is not followed",
                "Name the folder that it leads to, if that lies in this project, or put a real one in its place.",
            )


def _unwritable(path: str, error: OSError) -> BackstoryError:
    why = error.strerror or str(error)
    return _not_written(f"{shown(path)} cannot be written ({why})", "Make the folder writable, or choose another one.")


def _not_written(what: str, hint: str) -> BackstoryError:
    return BackstoryError(f"Nothing was written: {what}.", hint=hint, code=Exit.REFUSED)
