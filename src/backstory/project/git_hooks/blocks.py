"""A marked block in a file of somebody else: put in, and taken out again byte for byte.

Promise: `take_out(put(data, lines))` is `data`, whatever bytes it holds and whether or not its last line is ended;
None stands for a file that was not there. What others write around the block later stays.
"""

from __future__ import annotations

import re

_MADE = "this file was made for it"
_ENDED = "a line end was added before it"
_BEGIN, _END = b"# backstory:begin", b"# backstory:end"
_TOLD = b"`backstory git-hooks uninstall` takes it out"
_BLOCK = re.compile(
    rb"^[ \t]*" + _BEGIN + rb" \((?P<how>[^\r\n]*)" + _TOLD + rb"\)\r?\n"
    rb"(?:.*\r?\n)*?[ \t]*" + _END + rb"[^\r\n]*(?:\r?\n|\Z)",
    re.MULTILINE,
)  # fmt: skip
_SHEBANG = re.compile(rb"\A#![^\n]*\n\Z")


def holds(data: bytes) -> bool:
    """Whether there is a block in `data`."""
    return _BLOCK.search(data) is not None


def put(data: bytes | None, lines: list[str], *, line: int | None = None, shebang: str = "", indent: str = "") -> bytes:
    """`data` with the block of `lines` at its end, or before its line number `line` (from 0).

    A file that is not there begins with `shebang`.
    """
    before = _at(data or b"", line)
    start, rest = (data or b"")[:before], (data or b"")[before:]
    how = []
    if data is None:
        start, how = f"{shebang}\n".encode() if shebang else b"", [_MADE]
    end = b"\r\n" if b"\r\n" in start[:4096] or b"\r\n" in rest[:4096] else b"\n"
    if start and not start.endswith(b"\n"):
        start, how = start + end, [_ENDED]
    told = "; ".join([*how, _TOLD.decode()])
    text = [f"{indent}{_BEGIN.decode()} ({told})", *(f"{indent}{one}" if one else "" for one in lines)]
    block = b"".join(one.encode() + end for one in [*text, f"{indent}{_END.decode()}"])
    return start + block + rest


def take_out(data: bytes) -> bytes | None:
    """`data` without our block; None when the file was made for it and holds nothing else."""
    made = False
    while (found := _BLOCK.search(data)) is not None:
        how = found["how"].decode("utf-8", "replace")
        start, rest = data[: found.start()], data[found.end() :]
        made = made or _MADE in how
        if _ENDED in how and not rest:
            start = start[: -2 if start.endswith(b"\r\n") else -1]
        data = start + rest
    if made and (not data.strip() or _SHEBANG.match(data)):
        return None
    return data


def _at(data: bytes, line: int | None) -> int:
    """Where the line number `line` begins; the end of the data for None or a line behind it."""
    if line is None:
        return len(data)
    place = 0
    for _ in range(line):
        found = data.find(b"\n", place)
        if found < 0:
            return len(data)
        place = found + 1
    return place
