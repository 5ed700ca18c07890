"""Stored text on its way to a model: inside the fence of the brief, which it can neither close nor leave.

`fence` takes finished lines whose stored parts went through `records.hostile.fenced`; `inert` is for the fields of a
structured reply, where JSON keeps a text in its place and only hidden characters and the fence's own mark do harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from backstory.recall.brief import CLOSING, OPENING
from backstory.records.hostile import fenced

# C0 and C1 but for tab and line feed (ANSI sequences begin with one), invisible, bidi, line separators, tags. The two
# joiners stay: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_MARK = re.compile(r"<(?=\s*/?\s*project-memory)", re.IGNORECASE)


def fence(name: str, lines: Iterable[str]) -> str:
    """`lines` inside the fence of the project `name`."""
    title = fenced(name, 60).replace('"', "'")
    return "".join([OPENING.format(name=title), *(f"{line}\n" for line in lines), CLOSING])


def inert(value: Any) -> Any:
    """A text, or a list or object of texts, without hidden characters and without the fence's mark."""
    if isinstance(value, str):
        if not value.isprintable():
            value = _HIDDEN.sub("", value)
        return _MARK.sub("\u2039", value) if "<" in value else value
    if isinstance(value, list | tuple):
        return [inert(item) for item in value]
    if isinstance(value, dict):
        return {str(name): inert(item) for name, item in value.items()}
    return value
