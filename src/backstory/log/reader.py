"""Reads shards and journal files line by line. Bad lines are reported and hide nothing.

A line is judged by itself: JSON with the linking fields, bound to this project and this shard, with a right content
hash. What a line claims about its neighbours (`prev`) is checked where all lines are known.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import msgspec

from backstory.records.codec import BadLine, Head, blank_hash, blanked, read_fields, read_head, verifies
from backstory.records.event import LINE_LIMIT

_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


class Line(msgspec.Struct, frozen=True, gc=False):
    """A whole line: its bytes without line end, where it starts and where the next one does, its number from 1."""

    head: Head
    raw: bytes
    offset: int
    number: int
    end: int


class Problem(msgspec.Struct, frozen=True):
    """Something wrong with a line; `why` is a slug of `WHY`, `end` the offset at which the next line starts."""

    file: str
    line: int
    why: str
    detail: str = ""
    end: int = 0


# What can be wrong with a line or a file, in words.
WHY = {
    "torn": "the last line is not whole",
    "leftover": "a write was cut short here, and the next one began on a fresh line",
    "corrupt": "the line is no event",
    "marker": "a merge conflict marker",
    "long": "the line is longer than 64 KiB",
    "hash": "the content does not match its hash: the line was edited, or belongs to another project",
    "shard": "the line belongs to another shard",
    "prev": "the event before this one is missing: a line was removed or this one was forged",
    "forged": "this clone never wrote the event that bears its name",
    "unreadable": "the file cannot be read",
    "fork": "two events claim the same one before them: one was put in, or the store was rolled back and went on",
    "twice": "the same event stands here with other content",
    "order": "the lines are not in the order in which they were written",
    "lost": "lines that this clone wrote are gone from the file, and git does not explain it",
    "committed": "lines of the committed version are gone from the file",
    "journal": "the clone's journal lost lines",
    "rollback": "the store is older than what was last seen here",
    "version": "the line was written by a newer version",
    "shape": "a field of the event does not have the shape that its kind has",
}


def lines(path: str, start: int = 0, number: int = 0) -> Iterator[Line | Problem]:
    """Every line from byte `start` on. A last line without its line end is left for the next read.

    `OSError` passes through. `number` is the count of lines before `start`.
    """
    name, offset = os.path.basename(path), start
    for raw, size in _raw_lines(path, start):
        number += 1
        text = raw[:-1] if raw.endswith(b"\r") else raw
        if offset == 0:
            text = text.removeprefix(_BOM)
        if text:
            yield _judge(text, name, offset, number, offset + size)
        offset += size


def _judge(text: bytes, name: str, offset: int, number: int, end: int) -> Line | Problem:
    if len(text) > LINE_LIMIT:
        return Problem(name, number, "long", f"{len(text):,} bytes", end)
    try:
        return Line(read_head(text), text, offset, number, end)
    except BadLine as error:
        if text.startswith(_MARKERS):
            return Problem(name, number, "marker", "", end)
        why = "leftover" if text.startswith(b"{") and not text.endswith(b"}") else "corrupt"
        return Problem(name, number, why, str(error)[:120], end)


def _raw_lines(path: str, start: int) -> Iterator[tuple[bytes, int]]:
    """Each line without its line end, and how many bytes of the file it takes up."""
    rest = b""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        while chunk := file.read(_CHUNK):
            parts = (rest + chunk).split(b"\n")
            rest = parts.pop()
            yield from ((part, len(part) + 1) for part in parts)
            if len(rest) > 64 * LINE_LIMIT:
                # A file without line ends must not be held in memory whole: give up the piece as one bad line.
                yield rest, len(rest)
                rest = b""


def tail_of(path: str) -> tuple[int, bytes]:
    """The offset behind the last whole line, and the unfinished rest behind it (empty for a sound file)."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        start = max(0, size - 2 * LINE_LIMIT)
        file.seek(start)
        block = file.read()
    cut = block.rfind(b"\n") + 1
    return start + cut, block[cut:]


def last_line(path: str, shard: str, project: str) -> Head | None:
    """The last event of `shard` in a file, read from its end; None when the file has none or is missing."""
    needle = f'"shard":"{shard}"'.encode()
    for raw in _backwards(path):
        if needle not in raw:
            continue
        try:
            head = read_head(raw)
        except BadLine:
            continue
        if head.shard == shard and (verifies(project, raw, head.h) or b'"redacted":true' in raw):
            return head
    return None


def _backwards(path: str) -> Iterable[bytes]:
    """Whole lines of a file, last first."""
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below; a missing file is an empty one)
    except FileNotFoundError:
        return
    with file:
        position, rest = file.seek(0, os.SEEK_END), b""
        while position > 0:
            size = min(_CHUNK // 8, position)
            position -= size
            file.seek(position)
            parts = (file.read(size) + rest).split(b"\n")
            rest = parts.pop(0)
            yield from reversed(parts)
        yield rest


def check(line: Line, shard: str | None, projects: tuple[str, ...], redactions: dict[str, str]) -> str:
    """ "" for a sound line, else why not. `shard` None: a journal file, which holds many.

    `redactions` maps a redacted event to the hash its blanked line must have.
    """
    head = line.head
    if shard is not None and head.shard != shard:
        return "shard"
    if any(verifies(project, line.raw, head.h) for project in projects):
        return ""
    blank = redactions.get(head.id)
    if blank is not None and b'"redacted":true' in line.raw:
        fields = read_fields(line.raw)
        if fields == blanked(fields) and any(blank_hash(project, fields) == blank for project in projects):
            return ""
    return "hash"
