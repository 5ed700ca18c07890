"""Records in a file that is named like JSON lines and was printed prettily: one JSON text, or several after each other.

Such a file is small and old, an export or a fixture. It is read as a whole, and anew when its size or time changes.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

# As objects this is half a gigabyte, once.
LARGEST = 64 << 20
_HEAD = 4_096
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s*//[^\n]*\n)*\s*(?:\{|\[\s*\{?)[ \t]*\r?\n")
_LISTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_COMMENTS = re.compile(r"(?:\s*//[^\n]*\n)*")
_SPACE = re.compile(r"[\s,]*")
_LISTS = ("messages", "records", "entries", "events", "items", "history", "log")


def is_stamp(text: str) -> bool:
    """Whether a cursor's stamp is of such a file."""
    return text.startswith("printed:")


def stamp(path: str) -> str:
    """Size and time."""
    there = os.stat(path)
    return f"printed:{there.st_size}:{there.st_mtime_ns}"


def records(path: str) -> list[dict[str, Any]] | None:
    """The records, or None where the file is lines or cannot be read so."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
        if not (_BEGINS.match(head) or _LISTED.match(head)) or os.fstat(file.fileno()).st_size > LARGEST:
            return None
        text = (head + file.read()).decode("utf-8-sig", "replace")
    found: list[dict[str, Any]] = []
    decoder, at = json.JSONDecoder(strict=False, parse_constant=lambda _: None), _end(_COMMENTS, text, 0)
    try:
        while (at := _end(_SPACE, text, at)) < len(text):
            value, at = decoder.raw_decode(text, at)
            found += _flat(value)
    except (ValueError, RecursionError):
        return None
    return found or None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _flat(value: object) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [each for each in value if isinstance(each, dict)]
    if not isinstance(value, dict):
        return []
    if "type" not in value:
        for name in _LISTS:
            if listed := _flat(value.get(name) if isinstance(value.get(name), list) else None):
                return listed
    return [value]
