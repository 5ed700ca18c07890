"""How long a watcher lives: as long as its parent, its standard input and, where it was named, another process."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time

# A sender that never stops must not keep us busy.
_PAUSE = 0.2
_SLICE = 1.0


class Life:
    """`parent` is the id of a process to live as long as; 0 for the one that started us."""

    def __init__(self, parent: int = 0, stdin: int = 0) -> None:
        self._starter = os.getppid()
        self._parent, self._born = parent, born(parent) if parent else ""
        self._closed = threading.Event()
        if is_pipe(stdin):
            threading.Thread(target=self._drain, args=(stdin,), name="stdin", daemon=True).start()

    def over(self) -> str:
        """Why it is time to end; "" while it is not."""
        if self._closed.is_set():
            return "standard input was closed"
        if self._parent and (not is_alive(self._parent) or born(self._parent) != self._born):
            return f"process {self._parent} ended"
        if os.name == "posix" and os.getppid() != self._starter:
            return "the process that started it ended"
        return ""

    def wait(self, seconds: float) -> str:
        """Wait, but no longer than life lasts; why it is time to end, or ""."""
        until = time.monotonic() + seconds
        while not (why := self.over()):
            left = until - time.monotonic()
            if left <= 0:
                return ""
            self._closed.wait(min(left, _SLICE))
        return why

    def _drain(self, stdin: int) -> None:
        try:
            while os.read(stdin, 1 << 16):
                time.sleep(_PAUSE)
        except OSError:
            pass
        self._closed.set()


def is_pipe(handle: int) -> bool:
    """Whether somebody is at the other end of `handle` who can close it."""
    try:
        mode = os.fstat(handle).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


if sys.platform == "win32":
    import ctypes

    _SYNCHRONIZE, _TIMEOUT = 0x0010_0000, 0x102

    def is_alive(pid: int) -> bool:
        """Whether there is such a process. `os.kill` would end it on this system."""
        handle = ctypes.windll.kernel32.OpenProcess(_SYNCHRONIZE, False, pid)
        if not handle:
            return False
        try:
            return bool(ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == _TIMEOUT)
        finally:
            ctypes.windll.kernel32.CloseHandle(handle)

else:

    def is_alive(pid: int) -> bool:
        """Whether there is such a process; one that only waits for its parent to look has ended."""
        try:
            os.kill(pid, 0)
        except PermissionError:
            pass
        except (OSError, OverflowError):
            return False
        return _status(pid)[:1] not in ("Z", "X")


def born(pid: int) -> str:
    """When a process began, where the system says it (Linux): an id is given again. Else ""."""
    fields = _status(pid).split()
    return fields[19] if len(fields) > 19 else ""


def _status(pid: int) -> str:
    """The fields of /proc/PID/stat behind the name, which may hold blanks and parentheses."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read(4_096).rpartition(")")[2].strip()
    except OSError:
        return ""
