"""beads: `.beads/*.jsonl`, one issue a line. The last line with an id is the one that holds."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from backstory.sources.json_items import moment_of, read_items, text_of
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import when
from backstory.sources.skipped import Skipped, Warned

NAME = "beads"
_DETAIL = (("description", ""), ("design", "design"), ("acceptance_criteria", "accepted when"), ("notes", "notes"))
_GONE = ("tombstone", "deleted")
_STATES = frozenset(("open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked", "ready", *_GONE))
# How a link reads; any other type is said by its name.
_LINKS = {"blocks": "depends on", "parent-child": "part of", "discovered-from": "found during", "related": "related to"}


def takes(path: str) -> str:
    """The folder or file to read for `path`, or ""."""
    name = path.replace(os.sep, "/").rstrip("/")
    if os.path.isfile(path) and name.endswith(".jsonl") and "/.beads/" in f"/{name}":
        return path
    for candidate in (path, os.path.join(path, ".beads")):
        folder = os.path.basename(candidate.rstrip(os.sep)) == ".beads"
        if folder and glob.glob(os.path.join(glob.escape(candidate), "*.jsonl")):
            return candidate
    return ""


class _Found:
    """The issues and memories of all files, the last of each id."""

    def __init__(self) -> None:
        self.issues: dict[str, tuple[str, int, dict[str, Any]]] = {}
        self.remembered: dict[str, Item] = {}

    def file(self, file: str) -> Iterator[Skipped | Warned]:
        """Take in one file."""
        empty = True
        for one in read_items(file, ("id", "title", "_type")):
            empty = False
            if isinstance(one, Skipped | Warned):
                yield one
            elif one.fields.get("_type") == "memory":
                yield from self._memory(file, one.line, one.fields)
            else:
                yield from self._issue(file, one.line, one.fields)
        if empty:
            yield Skipped(file, 0, "an empty file")

    def _issue(self, file: str, line: int, fields: dict[str, Any]) -> Iterator[Skipped | Warned]:
        id_ = text_of(fields.get("id"))
        if not id_ or not text_of(fields.get("title")):
            yield Skipped(file, line, "no issue: it has no id or no title")
            return
        if id_ in self.issues:
            before, at, known = self.issues[id_]
            kept = _changed(known) > _changed(fields)
            holds = f"{os.path.basename(before)}:{at}" if kept else "this one"
            yield Warned(file, line, f"{id_} stands in {os.path.basename(before)}:{at} too; {holds} holds")
            if kept:
                return
        self.issues[id_] = (file, line, fields)

    def _memory(self, file: str, line: int, record: dict[str, Any]) -> Iterator[Skipped | Warned]:
        """What `bd remember` kept, as `bd export` writes it: a key and a text. The last one with a key holds."""
        key, text = text_of(record.get("key")), text_of(record.get("value")).strip()
        if not key or not text:
            yield Skipped(file, line, "no memory: it has no key or no value")
            return
        if key in self.remembered:
            yield Warned(file, line, f"the memory {key} stands again; the last one holds")
        place = f"{os.path.basename(file)}:{line} ({key})"
        self.remembered[key] = Item("note", {"summary": text, "aliases": [key]}, f"memory {key}", place)


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """Every issue, and for a closed one what closed it."""
    files = [path] if os.path.isfile(path) else sorted(glob.glob(os.path.join(glob.escape(path), "*.jsonl")))
    if not files:
        yield Skipped(path, 0, "no `.jsonl` file in it")
    found = _Found()
    for file in files:
        yield from found.file(file)
    for id_, (file, line, issue) in found.issues.items():
        yield from _items(file, line, id_, issue, found.issues)
    yield from found.remembered.values()


def _items(file: str, line: int, id_: str, issue: dict[str, Any], known: dict[str, Any]) -> Iterator[Item | Warned]:
    status = text_of(issue.get("status"))
    if status and status not in _STATES:
        yield Warned(file, line, f"the status {status[:40]!r} of {id_} is unknown; read as open")
    place = f"{os.path.basename(file)}:{line} ({id_})"
    links, problems = _linked(file, line, id_, issue, known)
    yield from problems
    details = [
        text if not label else f"{label}: {text}" for name, label in _DETAIL if (text := text_of(issue.get(name)))
    ]
    details += filter(None, ["\n".join(links), _labels(issue), *_comments(issue)])
    fields = {"summary": text_of(issue.get("title")), "detail": "\n\n".join(details), "aliases": [id_]}
    at, naive, problem = when(issue.get("created_at"), file, line)
    if problem:
        yield problem
    yield Item("issue", fields, id_, place, id_, at, f"{status} there" if status in _GONE else "", naive)
    if status == "closed":
        reason = text_of(issue.get("close_reason")) or "closed"
        closed, naive, problem = when(issue.get("closed_at") or issue.get("updated_at"), file, line)
        if problem:
            yield problem
        text = reason if reason.lower() != "closed" else f"Closed: {text_of(issue.get('title'))}"
        yield Item("fix", {"summary": text}, f"{id_} closed", place, id_, closed, "", naive)


def _linked(
    file: str, line: int, id_: str, issue: dict[str, Any], known: dict[str, Any]
) -> tuple[list[str], list[Warned]]:
    """What an issue is linked to, a line for each way, and which of that is not in the files."""
    ways: dict[str, list[str]] = {}
    problems = []
    for one in issue.get("dependencies") or ():
        other = text_of(one.get("depends_on_id")) if isinstance(one, dict) else ""
        if not other:
            problems.append(Warned(file, line, f"a dependency of {id_} names no issue"))
            continue
        kind = text_of(one.get("type")) or "blocks"
        ways.setdefault(_LINKS.get(kind, kind), []).append(other)
        if other not in known:
            problems.append(Warned(file, line, f"{id_} is linked to {other[:80]}, which is in none of the files"))
    return [f"{way}: {', '.join(others)}" for way, others in ways.items()], problems


def _labels(issue: dict[str, Any]) -> str:
    labels = [text for one in issue.get("labels") or () if (text := text_of(one))]
    return f"labels: {', '.join(labels)}" if labels else ""


def _comments(issue: dict[str, Any]) -> Iterator[str]:
    for one in issue.get("comments") or ():
        text = text_of(one.get("text")).strip() if isinstance(one, dict) else ""
        if text:
            yield f"comment of {text_of(one.get('author')) or 'unknown'}: {text}"


def _changed(issue: dict[str, Any]) -> int:
    return moment_of(issue.get("updated_at"))[0] or 0
