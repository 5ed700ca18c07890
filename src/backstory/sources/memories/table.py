"""CSV and JSON with columns by our own names: kind, summary, detail, files, issue, at, id and more."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from typing import Any

from backstory.sources.json_items import read_items, text_of
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text, when
from backstory.sources.skipped import Skipped, Warned

NAME = "table"
_COLUMNS = ("summary", "detail", "rationale", "outcome", "failure_mode", "command", "path", "why_hot", "issue",
            "observation", "name", "location", "scope")  # fmt: skip
_LISTS = ("files", "aliases", "libraries", "alternatives_rejected", "examples")
_KNOWN = frozenset((*_COLUMNS, *_LISTS, "kind", "at", "date", "id", "approved_by"))
_DELIMITERS = ",;\t|"


def takes(path: str) -> str:
    """The file, or "": a CSV whose first line has `summary`, a JSON whose objects have one."""
    if not os.path.isfile(path) or not path.endswith((".csv", ".tsv", ".json")):
        return ""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            head = file.read(4_096)
    except OSError:
        return ""
    # Our own exports come back in another way.
    if head.lstrip().startswith('{"backstory"'):
        return ""
    return path if "summary" in (head.split("\n", 1)[0].casefold() if not path.endswith(".json") else head) else ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """Every row."""
    if path.endswith((".csv", ".tsv")):
        yield from _rows(path)
        return
    empty = True
    for one in read_items(path, ("summary",)):
        empty = False
        if isinstance(one, Skipped | Warned):
            yield one
        else:
            yield from _item(path, one.line, one.fields)
    if empty:
        yield Skipped(path, 0, "an empty file")


def _rows(path: str) -> Iterator[Item | Skipped | Warned]:
    found = read_text(path)
    if isinstance(found, Skipped):
        yield found
        return
    text, doubt = found
    if doubt is not None:
        yield doubt
    csv.field_size_limit(len(text) + 1_000)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    names = [str(name).strip().casefold() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    unknown = sorted({name for name in names if name and name not in _KNOWN})
    if unknown:
        yield Warned(path, 1, f"columns that nothing is made of: {', '.join(unknown)[:200]}")
    try:
        for row in reader:
            if row.pop(None, None):
                yield Warned(path, reader.line_num, "more cells than columns; the rest was left out")
            yield from _item(path, reader.line_num, {name: value for name, value in row.items() if value})
    except csv.Error as error:
        yield Skipped(path, reader.line_num, f"no CSV from here on: {error}")


def _delimiter(text: str) -> str:
    """What stands between the names of the first line: the sign that makes the most known columns of it."""
    head = text.split("\n", 1)[0]

    def known(sign: str) -> int:
        names = next(csv.reader([head], delimiter=sign), [])
        return sum(name.strip().casefold() in _KNOWN for name in names)

    # Of equals the first holds, so that a file of one column is read with commas.
    return max(_DELIMITERS, key=known)


def _item(path: str, line: int, row: dict[str, Any]) -> Iterator[Item | Skipped | Warned]:
    if not text_of(row.get("summary")).strip():
        yield Skipped(path, line, "it has no summary")
        return
    fields: dict[str, Any] = {name: text_of(row.get(name)) for name in _COLUMNS if row.get(name)}
    for name in _LISTS:
        value = row.get(name)
        if value:
            many = value if isinstance(value, list) else text_of(value).split(";")
            fields[name] = [text.strip() for one in many if (text := text_of(one)).strip()]
    at, naive, problem = when(row.get("at") or row.get("date"), path, line)
    if problem:
        yield problem
    key = text_of(row.get("id")) or f"{row.get('kind', 'note')} {' '.join(fields['summary'].split()).casefold()}"
    place = f"{os.path.basename(path)}:{line}"
    approved = " ".join(text_of(row.get("approved_by")).split())[:300]
    told = (f"approved there by {approved}",) if approved else ()
    yield Item(text_of(row.get("kind")) or "note", fields, key, place, "", at, "", naive, "", told, approved)
