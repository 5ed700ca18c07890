"""What was written where, and the bytes that stood there before: kept in the person's state folder.

One folder per file, named by a hash of the real path: `record.json`, and `before` with the earlier bytes when there
was a file. Only the person can read it, since configurations hold tokens. A record that is lost or damaged costs the
exact restoration only: our entries are found by their marks as well.
"""

from __future__ import annotations

import os
import shutil
from hashlib import blake2b

import msgspec

from backstory.config import state_dir
from backstory.errors import BackstoryError, Exit

_RECORD, _BEFORE = "record.json", "before"


class Record(msgspec.Struct):
    """One written file. Hashes are of the bytes; `before` is "" when there was no file."""

    path: str
    before: str
    after: str
    clients: list[str]
    folders: list[str] = []


def digest(data: bytes | None) -> str:
    """The hash of a file's bytes, "" for no file."""
    return "" if data is None else blake2b(data, digest_size=20).hexdigest()


def read(path: str) -> tuple[Record, bytes | None] | None:
    """The record of a file and its earlier bytes; None when there is none that can be relied on."""
    folder = _folder(path)
    try:
        with open(os.path.join(folder, _RECORD), "rb") as file:
            record = msgspec.json.decode(file.read(), type=Record)
        before = None
        if record.before:
            with open(os.path.join(folder, _BEFORE), "rb") as file:
                before = file.read()
    except (OSError, msgspec.MsgspecError):
        return None
    return (record, before) if record.path == path and digest(before) == record.before else None


def write(record: Record, before: bytes | None) -> None:
    """Keep a record; `BackstoryError` (refused) when the state folder cannot be written."""
    folder = _folder(record.path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if before is not None:
            _put(os.path.join(folder, _BEFORE), before)
        _put(os.path.join(folder, _RECORD), msgspec.json.format(msgspec.json.encode(record)) + b"\n")
    except OSError as error:
        raise BackstoryError(
            f"The earlier text of {record.path} cannot be kept in {folder} ({error.strerror}).",
            hint="Nothing was written. Make that folder writable, or set XDG_STATE_HOME to one that is.",
            code=Exit.REFUSED,
        ) from error


def forget(path: str) -> None:
    """Drop the record of a file, and the state folder's own folders when nothing else is in them."""
    folder = _folder(path)
    shutil.rmtree(folder, ignore_errors=True)
    for above in (os.path.dirname(folder), state_dir()):
        try:
            os.rmdir(above)
        except OSError:
            return


def keep_copy(path: str, data: bytes) -> str:
    """Put aside a file of ours that somebody changed, before it is removed; where the copy is."""
    folder = os.path.join(state_dir(), "removed")
    target = os.path.join(folder, f"{digest(data)[:12]}-{os.path.basename(path)}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _put(target, data)
    except OSError as error:
        raise BackstoryError(
            f"{path} was changed after it was written, and no copy of it can be kept ({error.strerror}).",
            hint="Nothing was removed there. Remove the file by hand.",
            code=Exit.REFUSED,
        ) from error
    return target


def _folder(path: str) -> str:
    name = blake2b(os.fsencode(os.path.normcase(path)), digest_size=10).hexdigest()
    return os.path.join(state_dir(), "installed", name)


def _put(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with open(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, path)
