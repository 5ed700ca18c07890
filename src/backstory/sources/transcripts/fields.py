"""Fields of foreign records, whatever type they turn out to have; nothing here raises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from backstory.sources.transcripts.stream import AssistantText, Injected, Item, Thinking, UserText

Record = dict[str, Any]
_SECOND = 1_000_000


def text(value: object) -> str:
    """A text; "" for everything else."""
    return value if isinstance(value, str) else ""


def record(value: object) -> Record:
    """An object; an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[Record]:
    """The objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def number(value: object) -> int:
    """A count; 0 for everything else."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 1 << 53 else 0


def exit_code(value: object) -> int | None:
    """An exit code, None where there is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 32 else None


def first(fields: Record, *names: str) -> str:
    """The first of these fields that holds a text which is not empty."""
    return next((found for name in names if (found := text(fields.get(name)))), "")


def instant(value: object) -> int | None:
    """Microseconds since the epoch: of an ISO time with a zone, or of a number of seconds, milli- or microseconds."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            return None if found.tzinfo is None else round(found.astimezone(UTC).timestamp() * _SECOND)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e8 < value < 1e17:
        return None
    return int(value * (_SECOND if value < 1e11 else 1_000 if value < 1e14 else 1))


def said(content: object) -> str:
    """The text of a message's content: a text, or the text parts of a list, one below the other."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(found for part in parts if (found := part if isinstance(part, str) else said_by(part)))


def said_by(part: object) -> str:
    """The text of one part, but not of a thought or a call."""
    fields = record(part)
    return "" if fields.get("thought") is True else first(fields, "text", "content")


def folder_of(uri: object) -> str:
    """The absolute path of a `file:` address or of a plain path; "" for what is on another machine."""
    found = text(uri)
    if found.startswith("file://"):
        try:
            path = unquote(urlsplit(found).path)
        except ValueError:
            return ""
        return path[1:] if re.match(r"/[A-Za-z]:", path) else path
    return found if found.startswith("/") or re.match(r"[A-Za-z]:[\\/]", found) else ""


def filled(items: Iterable[Item]) -> Iterator[Item]:
    """Without the texts that say nothing: spaces only."""
    for item in items:
        if not isinstance(item, UserText | AssistantText | Thinking | Injected) or item.text.strip():
            yield item
