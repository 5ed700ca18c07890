"""Keeps stdin and stdout for the protocol alone, and lets the handshake go on before the SDK is there.

Promise: after `take`, nothing but what is written to the returned `Outgoing` reaches the client. A stray `print`, a
library's banner, a child process or C code that writes to descriptor 1 lands on stderr; a child that reads
descriptor 0 reads nothing.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable


def take() -> tuple[int, Outgoing]:
    """The descriptor of the real stdin, and the real stdout. Call it first of all."""
    if sys.stdout is not None:
        sys.stdout.flush()
    source, wire = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # a client may start us without a stderr
        os.dup2(nowhere, 1)
    os.close(nowhere)
    if sys.stderr is not None:
        sys.stdout = sys.stderr
    return source, Outgoing(wire)


class Outgoing(io.TextIOWrapper):
    """The real stdout, a message a line. Answers to requests that were answered already are dropped, each once."""

    def __init__(self, wire: int) -> None:
        # newline: no `\r` on Windows. closefd: a worker thread may still write when the loop is gone.
        super().__init__(os.fdopen(wire, "wb", closefd=False), encoding="utf-8", errors="replace", newline="\n")
        self._done: set[str] = set()

    def drop(self, ids: Iterable[str | int]) -> None:
        """Drop the next answer to each of `ids`."""
        self._done |= {json.dumps(id_) for id_ in ids}

    def write(self, text: str) -> int:
        """One message with its line end."""
        if self._done:
            message = json.loads(text)
            name = json.dumps(message.get("id"))
            if "method" not in message and name in self._done:
                self._done.remove(name)
                return len(text)
        return super().write(text)


class _Replay(io.RawIOBase):
    """Bytes that were read already, then the rest of a descriptor."""

    def __init__(self, read: bytes, source: int) -> None:
        self._read, self._source = read, source

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """As `io.RawIOBase.readinto`."""
        data = self._read[: len(buffer)] or os.read(self._source, len(buffer))
        self._read = self._read[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def incoming(read: bytes, source: int) -> io.TextIOWrapper:
    """A stream of `read` and then of what else comes in on `source`."""
    return io.TextIOWrapper(io.BufferedReader(_Replay(read, source)), encoding="utf-8", errors="replace")
