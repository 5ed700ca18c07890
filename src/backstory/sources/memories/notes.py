"""Notes in Markdown, one a file: a Cline memory bank, Claude Code's auto memory, agentlore, basic-memory, Obsidian."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text
from backstory.sources.skipped import Skipped, Warned

NAME = "notes"
# Folders that are memories by their name; any other one is read when it is asked for by name.
FOLDERS = ("memory-bank", "memory", ".memory", "memories", ".memories")
_INDEX = ("MEMORY.md", "README.md", "index.md")
_FRONT = re.compile(r"\A\ufeff?---\r?\n(?P<front>.*?)\r?\n---\r?\n", re.DOTALL)
_FIELD = re.compile(r"^(?P<name>title|name|description|permalink|status|type)\s*:\s*(?P<value>.+?)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,2} +(?P<text>.+?)\s*#*$", re.MULTILINE)
_LINK = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]]+)\]\]")
_GONE = ("superseded", "deprecated", "retired", "archived", "rejected", "obsolete")
_MOST_BYTES = 1 << 20


def takes(path: str) -> str:
    """The folder, or ""."""
    return path if os.path.isdir(path) and os.path.basename(path.rstrip(os.sep)) in FOLDERS else ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """The notes of a folder and of those in it, by path; an index that only links them is left out."""
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") or name == ".memory")
        for name in sorted(names):
            if name.endswith((".md", ".markdown")):
                full = os.path.join(folder, name)
                yield from _note(full, os.path.relpath(full, path).replace(os.sep, "/"))


def _note(full: str, shown: str) -> Iterator[Item | Skipped | Warned]:
    found = read_text(full, _MOST_BYTES)
    if isinstance(found, Skipped):
        yield found
        return
    text, doubt = found
    if doubt is not None:
        yield doubt
    front = _FRONT.match(text)
    told = {one["name"]: one["value"].strip("'\"") for one in _FIELD.finditer(front["front"])} if front else {}
    body = _LINK.sub(r"\1", text[front.end() :] if front else text).strip()
    heading = _HEADING.search(body)
    title = told.get("description") or told.get("title") or told.get("name") or (heading["text"] if heading else "")
    if not body or (os.path.basename(full) in _INDEX and "](" in body and len(body) < 4_000 and not told):
        yield Skipped(full, 0, "empty, or only an index of the others")
        return
    title = title or os.path.splitext(os.path.basename(full))[0]
    status = told.get("status", "").lower()
    ended = f"{status} there" if status in _GONE else ""
    yield Item("note", {"summary": title[:300], "detail": body}, shown, shown, "", None, ended)
