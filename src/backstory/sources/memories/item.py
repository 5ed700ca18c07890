"""What a reader of another tool's memory gives."""

from __future__ import annotations

from typing import Any

import msgspec


class Item(msgspec.Struct, frozen=True):
    """Something that could become an entry.

    `fields` are those of its kind; `key` is its id in the source, the same whenever the source is read; `place` says
    where it stands (file and line or id). `case` is the source's id of the issue that it belongs to. `at` is when it
    was said, microseconds; `naive` that the source gave no zone, so that UTC was taken. `ended` says why the source
    itself no longer holds it, "" while it does. `file` is the whole path where it has a file to itself. `told` are
    further lines of evidence. `approved_by` names who approved it there, "" where the source does not say.
    """

    kind: str
    fields: dict[str, Any]
    key: str
    place: str
    case: str = ""
    at: int | None = None
    ended: str = ""
    naive: bool = False
    file: str = ""
    told: tuple[str, ...] = ()
    approved_by: str = ""
