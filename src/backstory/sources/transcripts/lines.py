"""The records of a file of JSON lines, read as a stream from a byte on.

Promise: memory stays bounded whatever the file holds; a line that cannot be read costs itself and is told; the last
line waits until its end is written; reading again from `done` gives just what came since.

A file that somebody printed prettily is no lines; it is read as a whole (`printed.py`), and offsets count records.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from backstory.sources.transcripts import printed
from backstory.sources.transcripts.contract import Cursor
from backstory.sources.transcripts.stream import Item, Lost

# Longer lines are images or whole dumps of files: 50 MB of one line would be 200 MB as objects.
LONGEST = 16 << 20
_TOO_LONG = f"a line of more than {LONGEST >> 20} MB"
_PIECE = 1 << 20
_HEAD = 1_024
_NO_JSON = object()
_LENIENT = json.JSONDecoder(strict=False, parse_constant=lambda _: None)

Record = dict[str, Any]
Feed = Callable[[int, Record], Iterator[Item]]


class LineReader:
    """A `Reader` over JSON lines. `feed` turns a record into items, `save` gives the state for the cursor."""

    def __init__(self, path: str, cursor: Cursor, restore: Callable[[bytes], Feed], save: Callable[[], bytes]) -> None:
        self.path, self._save = path, save
        self._printed = cursor.stamp if printed.is_stamp(cursor.stamp) else ""
        self._is_read = bool(self._printed) and self._printed == printed.stamp(path)
        fits = self._is_read if self._printed else cursor.offset == 0 or head_stamp(path, cursor.offset) == cursor.stamp
        self.began_anew = not fits
        self.done = cursor.offset if fits else 0
        self._feed = restore(cursor.state if fits else b"")
        # A clock's monotonic seconds after which reading stops, behind a whole record.
        self.deadline = math.inf
        # For who looks for words: the last place that matters, and beginnings of words one of which a line must have.
        self.only: tuple[int, tuple[bytes, ...]] | None = None

    def __iter__(self) -> Iterator[Item]:
        if self._is_read:
            return
        stamp, self._printed = printed.stamp(self.path), ""
        whole = printed.records(self.path) if self.done == 0 else None
        if whole is not None:
            for number, each in enumerate(whole):
                yield from self._feed(number, each)
            self._printed, self._is_read = stamp, True
            return
        for offset, line, end in self._lines():
            if isinstance(line, str):
                yield Lost(offset, None, line)
            elif line:
                record = decoded(line)
                if isinstance(record, dict):
                    yield from self._feed(offset, record)
                else:
                    yield Lost(offset, None, record or "no object")
            self.done = end
            if self.deadline < math.inf and time.monotonic() > self.deadline:
                return

    def _lines(self) -> Iterator[tuple[int, bytes | str, int]]:
        for offset, line, end in raw_lines(self.path, self.done):
            if self.only is not None:
                if offset > self.only[0]:
                    return
                if isinstance(line, bytes) and not _has_one(line, self.only[1]):
                    continue
            yield offset, line, end

    @property
    def cursor(self) -> Cursor:
        """Where to go on."""
        if self._printed:
            return Cursor(stamp=self._printed)
        return Cursor(self.done, self._save(), head_stamp(self.path, self.done))


def _has_one(line: bytes, stems: tuple[bytes, ...]) -> bool:
    lowered = line.lower()
    return any(stem in lowered for stem in stems)


def raw_lines(path: str, start: int) -> Iterator[tuple[int, bytes | str, int]]:
    """(offset, line or why it is left out, offset behind it) of each whole line from `start` on.

    The last line counts as whole without a line end when it is a whole JSON object: some clients write no last end.
    """
    with open(path, "rb") as file:
        file.seek(start)
        # `at` is where the line begins that `rest` is the first part of; of a line that is too long nothing is kept.
        rest, at, position, too_long = b"", start, start, False
        while piece := file.read(_PIECE):
            begin = 0
            while (cut := piece.find(b"\n", begin)) >= 0:
                end = position + cut + 1
                line = rest + piece[begin:cut]
                yield at, _TOO_LONG if too_long or len(line) > LONGEST else line.strip(), end
                rest, at, begin, too_long = b"", end, cut + 1, False
            rest = b"" if too_long else rest + piece[begin:]
            position += len(piece)
            if len(rest) > LONGEST:
                rest, too_long = b"", True
        if rest and isinstance(decoded(rest.strip()), dict):
            yield at, rest.strip(), position


def decoded(line: bytes) -> Record | str | None:
    """The JSON of a line; a text says why there is none. Broken UTF-8 and raw control characters are read over."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = _mended(line)
        return found if isinstance(found, dict) else "no JSON" if found is _NO_JSON else None
    return found if isinstance(found, dict) else None


def _mended(line: bytes) -> object:
    try:
        return _LENIENT.decode(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return _NO_JSON


def head_stamp(path: str, read: int) -> str:
    """A hash of the first and the last bytes that were read; "shorter" when the file is shorter than that by now."""
    with open(path, "rb") as file:
        if file.seek(0, 2) < read:
            return "shorter"
        file.seek(0)
        ends = file.read(min(read, _HEAD))
        file.seek(max(0, read - _HEAD))
        ends += file.read(min(read, _HEAD))
    return f"{min(read, _HEAD)}:{blake2b(ends, digest_size=8).hexdigest()}"
