"""Writes documents in a process of its own, while the caller reads on: the words of a long history take as long as git.

A frame is a message of rows and the first number that they get. It goes through a file, its length through a pipe, so
that the caller never waits for the words and holds none of them. Each frame is a transaction: another process that
records something waits for one of them, not for all. What fails in the process is raised where it is waited for.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from backstory.errors import BackstoryError, Exit

if TYPE_CHECKING:
    import sqlite3

    from backstory.index.documents import Row

_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from backstory.index.feeding import main; main()"
_LENGTH = 8
# A lone surrogate is no UTF-8, and no database keeps it: it is replaced on the way.
_ENCODER = msgspec.msgpack.Encoder()


class _Frame(msgspec.Struct, array_like=True):
    """Rows of `documents`, and the number of the first."""

    first: int
    rows: list[tuple[str, str, str, int | None, str, str, list[str]]]


class Feeder:
    """A process that writes documents into the index at `path`. Used as a context: at its end all is written."""

    def __init__(self, path: str) -> None:
        import json

        # Both live as long as the process.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._frames = tempfile.NamedTemporaryFile(dir=os.path.dirname(path), prefix="feeding.")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path), path, self._frames.name],
            stdin=subprocess.PIPE,
            stderr=self._errors,
        )

    def append(self, rows: Sequence[Row], first: int) -> None:
        """Give it rows, whose numbers begin with `first`. `BackstoryError` when it is gone."""
        frame = _ENCODER.encode((first, [_plain(row) for row in rows]))
        self._frames.write(frame)
        self._frames.flush()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(len(frame).to_bytes(_LENGTH, "big"))
            self._process.stdin.flush()
        except OSError as error:
            raise self._failed() from error

    def __enter__(self) -> Feeder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._process.kill()
            try:
                self._process.communicate()
            except OSError:
                pass
            if error is None and self._process.returncode != 0:
                raise self._failed()
        finally:
            self._process.kill()
            self._process.wait()
            self._errors.close()
            self._frames.close()

    def _failed(self) -> BackstoryError:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return BackstoryError(
            f"Search could not take the history in: {lines[-1][:200] if lines else 'the process that writes it ended'}",
            hint="Run `backstory history refresh` again; `backstory doctor` checks the index.",
            code=Exit.FAULT,
        )


def _plain(row: Row) -> tuple[Any, ...]:
    source, ref, kind, at, title, body, paths = row
    return source, ref, kind, at, _utf8(title), _utf8(body), [_utf8(path) for path in paths]


def _utf8(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def main() -> None:
    """Write what stdin gives into the index that the command line names, after those who wait for something."""
    from backstory.index.store import connect

    gc.disable()
    if hasattr(os, "nice"):
        os.nice(10)
    db = connect(sys.argv[2])
    with open(sys.argv[3], "rb") as frames:
        while length := sys.stdin.buffer.read(_LENGTH):
            frame = msgspec.msgpack.decode(frames.read(int.from_bytes(length, "big")), type=_Frame)
            write(db, frame.rows, frame.first)
    db.close()


def write(db: sqlite3.Connection, rows: Sequence[Row], first: int) -> None:
    """Append rows in a transaction of their own."""
    from backstory.index import documents

    db.execute("BEGIN IMMEDIATE")
    try:
        documents.append_many(db, rows, first=first)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
