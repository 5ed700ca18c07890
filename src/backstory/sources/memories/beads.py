"""beads: `.beads/*.jsonl`, one issue a line. The last line with an id is the one that holds."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from backstory.sources.json_items import moment_of, read_items, text_of
from backstory.sources.memories.item import Item
from backstory.sources.skipped import Skipped, Warned

NAME = "beads"
_DETAIL = (("description", ""), ("design", "design"), ("acceptance_criteria", "accepted when"), ("notes", "notes"))
_GONE = ("tombstone", "deleted")


def takes(path: str) -> str:
    """The folder or file to read for `path`, or ""."""
    name = path.replace(os.sep, "/").rstrip("/")
    if os.path.isfile(path) and name.endswith(".jsonl") and "/.beads/" in f"/{name}":
        return path
    for candidate in (path, os.path.join(path, ".beads")):
        if os.path.basename(candidate.rstrip(os.sep)) == ".beads" and glob.glob(os.path.join(candidate, "*.jsonl")):
            return candidate
    return ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """Every issue, and for a closed one what closed it."""
    files = [path] if os.path.isfile(path) else sorted(glob.glob(os.path.join(path, "*.jsonl")))
    last: dict[str, tuple[str, int, dict[str, Any]]] = {}
    remembered: dict[str, Item] = {}
    for file in files:
        for one in read_items(file, ("id", "title", "_type")):
            if isinstance(one, Skipped | Warned):
                yield one
                continue
            if one.fields.get("_type") == "memory":
                yield from _remember(remembered, file, one.line, one.fields)
                continue
            id_ = text_of(one.fields.get("id"))
            if not id_ or not text_of(one.fields.get("title")):
                yield Skipped(file, one.line, "no issue: it has no id or no title")
                continue
            if id_ in last:
                yield Warned(last[id_][0], last[id_][1], f"{id_} stands again in {os.path.basename(file)}:{one.line}")
                if _changed(last[id_][2]) > _changed(one.fields):
                    continue
            last[id_] = (file, one.line, one.fields)
    for id_, (file, line, issue) in last.items():
        yield from _items(file, line, id_, issue)
    yield from remembered.values()


def _remember(kept: dict[str, Item], file: str, line: int, record: dict[str, Any]) -> Iterator[Skipped | Warned]:
    """What `bd remember` kept, as `bd export` writes it: a key and a text. The last one with a key holds."""
    key, text = text_of(record.get("key")), text_of(record.get("value")).strip()
    if not key or not text:
        yield Skipped(file, line, "no memory: it has no key or no value")
        return
    if key in kept:
        yield Warned(file, line, f"the memory {key} stands again; the last one holds")
    place = f"{os.path.basename(file)}:{line} ({key})"
    kept[key] = Item("note", {"summary": text, "aliases": [key]}, f"memory {key}", place)


def _items(file: str, line: int, id_: str, issue: dict[str, Any]) -> Iterator[Item]:
    status = text_of(issue.get("status"))
    place = f"{os.path.basename(file)}:{line} ({id_})"
    details = [
        text if not label else f"{label}: {text}" for name, label in _DETAIL if (text := text_of(issue.get(name)))
    ]
    needs = [text_of(one.get("depends_on_id")) for one in issue.get("dependencies") or () if isinstance(one, dict)]
    if needs:
        details.append(f"depends on: {', '.join(filter(None, needs))}")
    fields = {"summary": text_of(issue.get("title")), "detail": "\n\n".join(details), "aliases": [id_]}
    at, _ = moment_of(issue.get("created_at"))
    yield Item("issue", fields, id_, place, id_, at, f"{status} there" if status in _GONE else "")
    if status == "closed":
        reason = text_of(issue.get("close_reason")) or "closed"
        closed, _ = moment_of(issue.get("closed_at") or issue.get("updated_at"))
        text = reason if reason.lower() != "closed" else f"Closed: {text_of(issue.get('title'))}"
        yield Item("fix", {"summary": text}, f"{id_} closed", place, id_, closed)


def _changed(issue: dict[str, Any]) -> int:
    return moment_of(issue.get("updated_at"))[0] or 0
