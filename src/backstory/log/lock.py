"""The writers' lock: one per clone, held only for an append or a redaction. Readers never take it.

The lock is the operating system's own (released when the process dies, so it is never stale). `fcntl` and `msvcrt`
reach every platform of ours; a lock library would add a file to import and nothing else.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from backstory.errors import BackstoryError, Exit

WAIT_SECONDS = 20.0
_PAUSE = 0.005


@contextmanager
def held(folder: str, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of `folder`, made when missing; `BackstoryError` when it stays taken or cannot be made."""
    path = os.path.join(folder, "lock")
    try:
        os.makedirs(folder, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    except OSError as error:
        raise BackstoryError(
            f"Nothing was written: {path} cannot be opened ({error.strerror}).",
            hint="Make that folder writable, then run the command again.",
            code=Exit.REFUSED,
        ) from error
    try:
        _acquire(handle, wait_seconds, path)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, wait_seconds: float, path: str) -> None:
    deadline = time.monotonic() + wait_seconds
    while not _try(handle):
        if time.monotonic() >= deadline:
            raise BackstoryError(
                f"Nothing was written: another process has held {path} for {wait_seconds:g} seconds.",
                hint="Wait for it or end it, then run the command again.",
                code=Exit.REFUSED,
            )
        time.sleep(_PAUSE)


if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True
