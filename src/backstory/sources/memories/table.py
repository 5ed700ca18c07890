"""CSV and JSON with columns by our own names: kind, summary, detail, rationale, files, outcome, issue, at, id."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from typing import Any

from backstory.sources.json_items import moment_of, read_items, text_of
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text
from backstory.sources.skipped import Skipped, Warned

NAME = "table"
_COLUMNS = ("summary", "detail", "rationale", "outcome", "failure_mode", "command", "path", "why_hot", "issue",
            "observation", "name", "location", "scope")  # fmt: skip
_LISTS = ("files", "aliases", "libraries", "alternatives_rejected", "examples")


def takes(path: str) -> str:
    """The file, or "": a CSV whose first line has `summary`, a JSON whose objects have one."""
    if not os.path.isfile(path) or not path.endswith((".csv", ".json")):
        return ""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            head = file.read(4_096)
    except OSError:
        return ""
    # Our own exports come back in another way.
    if head.lstrip().startswith('{"backstory"'):
        return ""
    return path if "summary" in (head.split("\n", 1)[0] if path.endswith(".csv") else head) else ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """Every row."""
    if path.endswith(".csv"):
        yield from _rows(path)
        return
    for one in read_items(path, ("summary",)):
        yield one if isinstance(one, Skipped | Warned) else _item(path, one.line, one.fields)


def _rows(path: str) -> Iterator[Item | Skipped | Warned]:
    found = read_text(path)
    if isinstance(found, Skipped):
        yield found
        return
    text, doubt = found
    if doubt is not None:
        yield doubt
    csv.field_size_limit(len(text) + 1_000)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            if row.pop(None, None):
                yield Warned(path, reader.line_num, "more cells than columns; the rest was left out")
            yield _item(path, reader.line_num, {name: value for name, value in row.items() if value})
    except csv.Error as error:
        yield Skipped(path, reader.line_num, f"no CSV from here on: {error}")


def _item(path: str, line: int, row: dict[str, Any]) -> Item | Skipped:
    if not text_of(row.get("summary")).strip():
        return Skipped(path, line, "it has no summary")
    fields: dict[str, Any] = {name: text_of(row.get(name)) for name in _COLUMNS if row.get(name)}
    for name in _LISTS:
        value = row.get(name)
        if value:
            fields[name] = [text_of(one) for one in value] if isinstance(value, list) else text_of(value).split(";")
    at, _ = moment_of(row.get("at") or row.get("date"))
    key = text_of(row.get("id")) or f"{row.get('kind', 'note')} {' '.join(fields['summary'].split()).casefold()}"
    return Item(text_of(row.get("kind")) or "note", fields, key, f"{os.path.basename(path)}:{line}", "", at)
