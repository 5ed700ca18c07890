"""Transcripts that are no lines: a file of JSON, a folder of such files, a session in a database.

Promise: what did not change gives nothing; what changed is read again from its start, and `began_anew` says so; what
cannot be read is told in one `Lost` and leaves what was kept of it alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

import msgspec

from backstory.sources.transcripts.contract import Cursor
from backstory.sources.transcripts.stream import Item, Lost

# A session of this size is images; as objects it would be a gigabyte.
LARGEST = 256 << 20


class Broken(Exception):
    """What was found cannot be read; it counts as read until it changes."""


class Busy(Exception):
    """It cannot be read now: another process has it. It is tried again the next time."""


Load = Callable[[], Iterable[Item]]


class WholeReader:
    """A `Reader`. `stamp` tells whether something changed; `load` reads it and gives its items.

    Both may raise `OSError`, `sqlite3.Error`, `Broken` or `Busy`; of these, only an `OSError` reaches the caller, when
    the reader is iterated.
    """

    def __init__(self, cursor: Cursor, stamp: Callable[[], str], load: Load) -> None:
        self.began_anew = False
        self._cursor = cursor
        self._items: Iterable[Item] = ()
        self._failed: OSError | None = None
        try:
            found = stamp()
            if found != cursor.stamp:
                self._read(found, load)
        except OSError as exc:
            self._failed = exc
        except (sqlite3.Error, Busy, Broken) as exc:
            self._items = (Lost(0, None, _why(exc)),)

    def _read(self, stamp: str, load: Load) -> None:
        try:
            self._items = load()
        except (Broken, sqlite3.DatabaseError) as exc:
            if isinstance(exc, sqlite3.OperationalError) and _is_locked(exc):
                raise Busy("the database is locked") from exc
            self._items = (Lost(0, None, _why(exc)),)
        else:
            self.began_anew = True
        self._cursor = Cursor(stamp=stamp)

    def __iter__(self) -> Iterator[Item]:
        if self._failed is not None:
            raise self._failed
        yield from self._items

    @property
    def cursor(self) -> Cursor:
        """Where to go on."""
        return self._cursor


def stamp_of(paths: Iterable[str]) -> str:
    """Size and time of every file, as one word; a file that is gone counts as such."""
    whole, size = blake2b(digest_size=8), 0
    for path in paths:
        try:
            there = os.stat(path)
        except FileNotFoundError:
            continue
        size += there.st_size
        whole.update(f"{path}\0{there.st_size}\0{there.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return f"{size}:{whole.hexdigest()}"


def parsed(path: str) -> object:
    """The JSON of a file. Broken UTF-8 and raw control characters are read over. `Broken` when there is none."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise Broken(f"a file of more than {LARGEST >> 20} MB")
        data = file.read()
    return from_bytes(data)


def from_bytes(data: bytes | str) -> object:
    """The JSON of a text; `Broken` when there is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    try:
        return json.loads(text, strict=False, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise Broken("no JSON") from None


def _is_locked(exc: sqlite3.OperationalError) -> bool:
    return any(word in str(exc) for word in ("locked", "busy"))


def _why(exc: Exception) -> str:
    return f"the database: {exc}" if isinstance(exc, sqlite3.Error) else str(exc)
