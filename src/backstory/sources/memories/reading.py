"""Reads what files of other tools have in common: their text, and the times in it."""

from __future__ import annotations

import re
from typing import Any

from backstory.sources.json_items import is_guess, moment_of
from backstory.sources.skipped import Skipped, Warned

_MOST_BYTES = 64 << 20
_CLOCK = re.compile(r"\d[T ]+\d")


def read_text(path: str, most: int = _MOST_BYTES) -> tuple[str, Warned | None] | Skipped:
    """The text without a byte order mark, and what was wrong with it. A file of `most` bytes or more is left out."""
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        return Skipped(path, 0, error.strerror or "cannot be read")
    if len(data) > most or b"\0" in data:
        return Skipped(path, 0, f"no text of at most {most >> 20} MiB")
    if not data.strip():
        return Skipped(path, 0, "an empty file")
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8-sig", "replace"), Warned(path, line, "no UTF-8 here; such bytes were replaced")


def when(value: Any, path: str, line: int) -> tuple[int | None, bool, Warned | None]:
    """Microseconds, whether it is a time of day without a zone (read as UTC), and what is wrong with it."""
    at, problem = moment_of(value)
    if at is None and problem:
        return None, False, Warned(path, line, f"no date: {str(value)[:40]!r}; it was left out")
    return at, is_guess(problem) and bool(_CLOCK.search(str(value))), None
