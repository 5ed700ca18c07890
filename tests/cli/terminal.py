"""A person at a terminal: runs a command on a pseudo-terminal, types, and reads the screen."""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def screen(text: str) -> str:
    """What a reader sees: no colours, no carriage returns."""
    return ANSI.sub("", text).replace("\r", "")


class Seat:
    """A process whose three streams are a terminal of `columns`."""

    def __init__(self, args: Sequence[str], cwd: Path, *, columns: int = 80, env: dict[str, str] | None = None) -> None:
        pty = pytest.importorskip("pty", reason="a pseudo-terminal needs a Unix system")
        fcntl, struct, termios = map(__import__, ("fcntl", "struct", "termios"))
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm", **(env or {})}
        environment.pop("COLUMNS", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backstory", *args],
            cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.raw = ""
        self.seen = 0

    def wait_for(self, text: str, seconds: float = 20.0) -> str:
        """Read until `text` comes, after what an earlier call waited for; what came up to its end."""
        deadline = time.monotonic() + seconds
        while (place := screen(self.raw).find(text, self.seen)) < 0:
            if not self._read(deadline):
                raise AssertionError(f"{text!r} never came; the screen holds:\n{screen(self.raw)}")
        start, self.seen = self.seen, place + len(text)
        return screen(self.raw)[start : self.seen]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def finish(self, seconds: float = 20.0) -> tuple[int, str]:
        """Exit code and the whole screen."""
        deadline = time.monotonic() + seconds
        while self._read(deadline):
            pass
        code = self.process.wait(timeout=seconds)
        os.close(self.master)
        return code, screen(self.raw)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65_536)
        except OSError:
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)


def person(
    cwd: Path, *args: str, keys: str = "", columns: int = 80, env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run a command as a person does; exit code and screen."""
    seat = Seat(args, cwd, columns=columns, env=env)
    if keys:
        seat.type(keys)
    return seat.finish()
