"""Reads a text file of another tool whole: bytes that are no UTF-8 are replaced, and said."""

from __future__ import annotations

from backstory.sources.skipped import Skipped, Warned

_MOST_BYTES = 64 << 20


def read_text(path: str, most: int = _MOST_BYTES) -> tuple[str, Warned | None] | Skipped:
    """The text without a byte order mark, and what was wrong with it."""
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        return Skipped(path, 0, error.strerror or "cannot be read")
    if len(data) > most or b"\0" in data:
        return Skipped(path, 0, f"no text of at most {most >> 20} MiB")
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8-sig", "replace"), Warned(path, line, "no UTF-8 here; such bytes were replaced")
