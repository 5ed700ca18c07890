"""Notes in Markdown, one a file: a Cline memory bank, Claude Code's auto memory, basic-memory, Obsidian.

A note keeps its text as it is written. Its tags, other names, permalink and the notes that it is related to become
aliases, so that search finds it by them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from backstory.sources.frontmatter import Page, read_page
from backstory.sources.markdown import TEXT
from backstory.sources.memories import agentlore
from backstory.sources.memories.item import Item
from backstory.sources.memories.observations import observed, related
from backstory.sources.memories.reading import read_text, when
from backstory.sources.skipped import Skipped, Warned, bounded
from backstory.sources.values import strings, words

NAME = "notes"
# Folders that are memories by their name; any other one is read when it is asked for by name.
FOLDERS = ("memory-bank", "memory", ".memory", "memories", ".memories")
_INDEX = ("MEMORY.md", "README.md", "index.md")
_HEADING = re.compile(r"^#{1,2} +(?P<text>.+?)\s*#*$", re.MULTILINE)
_LINK_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:!?\[[^\]]*\]\(|\[\[)")
_TAG = re.compile(r"(?:^|(?<=[\s(,]))#(?=[\w/-]*[^\W\d])(?P<tag>\w[\w/-]*)")
_CODE = re.compile(r"`[^`]*`")
_GONE = ("superseded", "deprecated", "retired", "archived", "rejected", "obsolete")
_HELD = frozenset(
    """accepted active approved complete completed current done draft evergreen final in-progress in_progress live open
    permanent planned proposed published ready review seedling stable todo wip""".split()
)
_DATES = ("created", "created at", "created date", "date", "recorded", "updated", "updated at", "modified")
# What a note says it is, where that is a kind of entry.
_KINDS = {"decision": "decision", "adr": "decision", "pattern": "pattern", "convention": "pattern", "gotcha": "lesson",
          "lesson": "lesson", "issue": "issue", "bug": "issue"}  # fmt: skip
_MOST_BYTES, _MOST_ALIASES = 1 << 20, 50


def takes(path: str) -> str:
    """The folder, or "": one that is a memory by its name, or a vault of Obsidian."""
    if not os.path.isdir(path) or agentlore.takes(path):
        return ""
    named = os.path.basename(path.rstrip(os.sep)) in FOLDERS
    return path if named or os.path.isdir(os.path.join(path, ".obsidian")) else ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """The notes of a folder and of those in it, by path, or of one file; an index that only links them is left out."""
    if os.path.isfile(path):
        yield from note(path, os.path.basename(path))
        return
    empty = True
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") or name == ".memory")
        for name in sorted(names):
            if name.endswith((".md", ".markdown")):
                full, empty = os.path.join(folder, name), False
                yield from note(full, os.path.relpath(full, path).replace(os.sep, "/"))
    if empty:
        yield Skipped(path, 0, "no Markdown file in it")


def note(full: str, shown: str, extra: Sequence[str] = ()) -> Iterator[Item | Skipped | Warned]:
    """The note in one file, and what of it stands for itself. `extra` are further aliases."""
    found = read_text(full, _MOST_BYTES)
    if isinstance(found, Skipped):
        yield found
        return
    text, doubt = found
    if doubt is not None:
        yield doubt
    page = read_page(text)
    yield from bounded([Warned(full, line, why) for line, why in page.problems])
    body = "".join(page.body.lines).strip()
    if not body or (os.path.basename(full) in _INDEX and not page.fields and _only_links(body)):
        yield Skipped(full, 0, "no text below the fields" if not body else "only an index of the others")
        return
    at, naive, problem = _dated(page, full)
    if problem:
        yield problem
    status, doubt = _status(page, full)
    if doubt:
        yield doubt
    summary, names = _names(page, body, full)
    aliases = list(dict.fromkeys([*names, *extra, *_tags(page), *related(page.body)]))
    if len(aliases) > _MOST_ALIASES:
        yield Warned(full, 0, f"of {len(aliases)} tags and relations the first {_MOST_ALIASES} became aliases")
    fields = {"summary": summary, "detail": body, "aliases": [text[:200] for text in aliases[:_MOST_ALIASES]]}
    kind = _KINDS.get(_field(page, "type").casefold(), "note")
    yield Item(kind, fields, shown, shown, "", at, status, naive, full)
    yield from observed(page.body, full, shown, at, naive, status)


def _names(page: Page, body: str, full: str) -> tuple[str, list[str]]:
    """The line that says what a note is about, and its other names."""
    heading = _HEADING.search(body)
    stem = os.path.splitext(os.path.basename(full))[0]
    said = [_field(page, name) for name in ("description", "title", "name")]
    said += [heading["text"] if heading else "", _field(page, "permalink")]
    others = [text for name in ("aliases", "alias") if name in page.fields for text in strings(page.fields[name].value)]
    names = [text for text in (*said, stem, *others) if text]
    return names[0], [text for text in names[1:] if text != names[0]]


def _field(page: Page, name: str) -> str:
    field = page.fields.get(name)
    return (words(field.value) or "") if field else ""


def _dated(page: Page, full: str) -> tuple[int | None, bool, Warned | None]:
    for name in _DATES:
        field = page.fields.get(name)
        text = words(field.value) if field else None
        # A template of Obsidian holds `{{date}}`, which is no date that somebody got wrong.
        if field and text:
            return when(text, full, field.line)
    return None, False, None


def _status(page: Page, full: str) -> tuple[str, Warned | None]:
    """Why the note no longer holds, or "", and whether its status is one that nobody knows."""
    field = page.fields.get("status")
    status = (words(field.value) or "").casefold() if field else ""
    if field is None or not status:
        return "", None
    if status in _GONE:
        return f"{status} there", None
    doubt = Warned(full, field.line, f"the status {status[:40]!r} is unknown; read as if it held")
    return "", None if status in _HELD else doubt


def _tags(page: Page) -> Iterator[str]:
    """The tags of the fields and those in the text, without their mark."""
    for name in ("tags", "tag"):
        if name in page.fields:
            yield from (text.lstrip("#") for text in strings(page.fields[name].value))
    for line, kind in zip(page.body.lines, page.body.kinds, strict=True):
        if kind == TEXT and "#" in line:
            yield from (match["tag"] for match in _TAG.finditer(_CODE.sub("", line)))


def _only_links(body: str) -> bool:
    lines = [line for line in body.splitlines() if line.strip() and not line.startswith(("#", "---"))]
    return bool(lines) and all(_LINK_ITEM.match(line) for line in lines)
