"""A change as a unified diff for a person to judge: short lines, no secrets of the lines around."""

from __future__ import annotations

import difflib

from backstory.records.secrets import redact

_CONTEXT = 2
_WIDTH = 240


def diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """The lines of the diff; "" when nothing a line shows was changed."""
    lines = difflib.unified_diff(
        _lines(before),
        _lines(after),
        "/dev/null" if before is None else path,
        "/dev/null" if after is None else path,
        n=_CONTEXT,
        lineterm="",
    )
    return redact("\n".join(_short(line) for line in lines)).text


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").split("\n")[: None if text and not text.endswith("\n") else -1]


def _short(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]} ... ({len(line) - _WIDTH} more)"
