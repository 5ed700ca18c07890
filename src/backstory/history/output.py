"""A query's result, and the schema, as lines of text. Every function is pure; lines come without their ends.

Promise: whatever the values hold, a table and Markdown are one line a row without control, bidirectional or invisible
characters; JSON is valid, loses nothing and escapes such characters. CSV is quoting after RFC 4180 and nothing else:
what a value holds goes out as it is (end its lines with CRLF).
"""

from __future__ import annotations

import json
import math
import re
import textwrap
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from backstory.history.query import Result
from backstory.history.schema import TABLES
from backstory.records.hostile import one_line
from backstory.records.value import is_invisible

NULL = "NULL"
_GAP = "  "
_NARROWEST = 8


# --- table -----------------------------------------------------------------------------------------------------


def table(result: Result, width: int = 0) -> Iterator[str]:
    """Columns side by side, numbers to the right, no line wider than `width` cells (0: nothing is cut).

    Wide columns are narrowed first, to no less than eight cells; what then still stands over the edge is cut off.
    """
    heads = [_one_line(name) for name in result.columns]
    rows = [[_one_line(as_text(value)) for value in row] for row in result.rows]
    widths = [
        max([display_width(head), *(display_width(row[place]) for row in rows)]) for place, head in enumerate(heads)
    ]
    if width:
        widths = _narrowed(widths, width - len(_GAP) * (len(widths) - 1))
    right = [_is_number(kind) for kind in result.types]
    for line in (heads, ["-" * room for room in widths], *rows):
        text = _GAP.join(map(_padded, line, widths, right)).rstrip()
        yield _cut(text, width) if width else text
    if not rows:
        yield "(no rows)"


def _narrowed(widths: list[int], room: int) -> list[int]:
    """The widths, the widest held to one limit so that all fit, and what is left over spread among those."""
    limits = range(_NARROWEST, max(widths) + 1)
    fitting = bisect_right(limits, room, key=lambda limit: sum(min(width, limit) for width in widths))
    limit = limits[max(0, fitting - 1)] if limits else _NARROWEST
    narrowed = [min(width, limit) for width in widths]
    left = room - sum(narrowed)
    for place, width in enumerate(widths):
        if left > 0 and width > limit:
            narrowed[place] += 1
            left -= 1
    return narrowed


def display_width(text: str) -> int:
    """How many cells of a terminal a text takes: wide characters of Chinese, Japanese and Korean take two."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _cut(text: str, room: int) -> str:
    """`text` in at most `room` cells, ended with `…` where something is missing."""
    if display_width(text) <= room:
        return text
    kept, used = [], 0
    for char in text:
        used += _cells(char)
        if used > room - 1:
            break
        kept.append(char)
    return ("".join(kept).rstrip() + "…")[: max(0, room)]


def _padded(text: str, room: int, to_right: bool) -> str:
    text = _cut(text, room)
    space = " " * (room - display_width(text))
    return space + text if to_right else text + space


def _is_number(kind: str) -> bool:
    return bool(re.fullmatch(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|BIGNUM|DOUBLE|FLOAT|DECIMAL\(.*\)", kind))


def _one_line(text: str) -> str:
    return one_line(text, len(text))


def as_text(value: Any) -> str:
    """A value as words: NULL, lists by commas, everything with names as JSON."""
    if value is None:
        return NULL
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return ", ".join(map(as_text, value))
    return _exact(value)


def _exact(value: Any) -> str:
    """A value as text that can be read back; lists as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return _json(value)


def left_out(result: Result) -> str:
    """A sentence for whoever asked when rows were left out, else nothing."""
    return f"Only the first {len(result.rows):,} rows are shown: raise `--rows` for more." if result.more else ""


# --- CSV, JSON, Markdown ---------------------------------------------------------------------------------------


def csv(result: Result) -> Iterator[str]:
    """Comma-separated values: NULL is nothing, empty text is `""`, lists are JSON."""
    alone = len(result.columns) == 1
    yield ",".join(map(_csv_cell, result.columns))
    for row in result.rows:
        # A line of nothing is no record to most readers.
        yield '""' if alone and row[0] is None else ",".join(map(_csv_cell, row))


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    text = _exact(value)
    return '"' + text.replace('"', '""') + '"' if not text or re.search(r'[",\r\n]|^\s|\s$', text) else text


def as_json(result: Result) -> Iterator[str]:
    """A list of objects, one a line. A name that repeats gets a number (`n`, `n_2`); numbers that are none are null."""
    names = _unique(result.columns)
    yield "[" if result.rows else "[]"
    for place, row in enumerate(result.rows, 1):
        yield f"  {_json(dict(zip(names, row, strict=True)))}{',' if place < len(result.rows) else ''}"
    if result.rows:
        yield "]"


def _unique(names: tuple[str, ...]) -> list[str]:
    taken, unique = set(names), list[str]()
    for name in names:
        free, number = name, 1
        while free in unique or (number > 1 and free in taken):
            number += 1
            free = f"{name}_{number}"
        unique.append(free)
    return unique


def _json(value: Any) -> str:
    text = json.dumps(_finite(value), ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else "".join(map(_escaped, text))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return {name: _finite(item) for name, item in value.items()} if isinstance(value, dict) else value


def _escaped(char: str) -> str:
    if char.isprintable() and not is_invisible(char):
        return char
    return json.dumps(char)[1:-1] if not char.isascii() else f"\\u{ord(char):04x}"


def markdown(result: Result) -> Iterator[str]:
    """A table of Markdown, in which no value ends its cell, opens a tag, a link or an image."""
    yield _markdown_row(result.columns)
    yield "| " + " | ".join("---:" if _is_number(kind) else "---" for kind in result.types) + " |"
    for row in result.rows:
        yield _markdown_row(map(as_text, row))


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(_markdown_cell, cells)) + " |"


def _markdown_cell(text: str) -> str:
    lines = (re.sub(r"[\\|<\[]", _marked, _one_line(line)) for line in re.split(r"\r\n|\r|\n", text.strip()))
    return "<br>".join(lines)


def _marked(match: re.Match[str]) -> str:
    return "&lt;" if match[0] == "<" else "\\" + match[0]


# --- schema ----------------------------------------------------------------------------------------------------


def schema_text(width: int = 100) -> Iterator[str]:
    """The tables, their columns, and what they hold, for a terminal."""
    for found in TABLES.values():
        yield f"{found.name}: {found.about}"
        names = max(len(column.name) for column in found.columns)
        kinds = max(len(column.type) for column in found.columns)
        for column in found.columns:
            head = f"  {column.name:{names}}  {column.type:{kinds}}  "
            yield from textwrap.wrap(
                head + column.about, width, subsequent_indent=" " * len(head), break_on_hyphens=False
            )
        yield ""


def schema_json() -> list[dict[str, Any]]:
    """The same as data: tables with name, about and columns (name, type, about)."""
    return [
        {"name": found.name, "about": found.about, "columns": [column._asdict() for column in found.columns]}
        for found in TABLES.values()
    ]
