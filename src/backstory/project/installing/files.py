"""Reading and writing the files of others: whole, in place, with their mode, and never half.

Promise: a reader sees the old bytes or the new ones. A link stays a link: the file that it leads to is written. What
cannot be written raises `BackstoryError` with the path, and leaves the old file.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from backstory.errors import BackstoryError, Exit


def read(path: str) -> bytes | None:
    """The bytes of a regular file, None when there is none; `BackstoryError` (refused) for anything else."""
    try:
        # Asked before it is opened: opening a pipe would wait for a writer.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise _odd(path, "is no regular file")
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _odd(path, f"cannot be read ({error.strerror})") from error


def write(path: str, data: bytes, *, executable: bool = False) -> list[str]:
    """Write a file; the folders that were made for it, outermost first."""
    made = _folders(os.path.dirname(path))
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:80]}.{os.getpid()}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(path, temporary, executable)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        drop_folders(made)
        raise _odd(path, f"cannot be written ({error.strerror})") from error
    return made


def remove(path: str) -> None:
    """Delete a file; one that is gone already is no fault."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _odd(path, f"cannot be removed ({error.strerror})") from error


def drop_folders(folders: Iterable[str]) -> None:
    """Remove those of the folders that are empty, the innermost first."""
    for folder in sorted(set(folders), key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _folders(folder: str) -> list[str]:
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made: list[str] = []
    for path in reversed(missing):
        try:
            os.mkdir(path)
        except FileExistsError:
            continue
        except OSError as error:
            drop_folders(made)
            raise _odd(path, f"cannot be made ({error.strerror})") from error
        made.append(path)
    return made


def _keep_mode(path: str, temporary: str, executable: bool) -> None:
    """Give the new file the mode and, where we may, the owner of the old one."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        if executable and os.name != "nt":
            mode = os.stat(temporary).st_mode
            os.chmod(temporary, mode | ((mode & 0o444) >> 2))
        return
    os.chmod(temporary, stat.S_IMODE(old.st_mode))
    if os.name != "nt":
        new = os.stat(temporary)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with contextlib.suppress(OSError):
                os.chown(temporary, old.st_uid, old.st_gid)


def _odd(path: str, what: str) -> BackstoryError:
    return BackstoryError(
        f"{path} {what}.", hint="Mend that, or leave the client out, and run the command again.", code=Exit.REFUSED
    )
