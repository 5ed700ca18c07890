"""agentlore: `.memory/*.md`, an entry for each `## ` heading, its fields in the comment below the heading."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from backstory.sources.markdown import Body, Section, read_body, split_lines
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text, when
from backstory.sources.skipped import Skipped, Warned

NAME = "agentlore"
FILES = ("conventions.md", "dead-ends.md", "decisions.md", "hazards.md")
_FIELDS = re.compile(r"[ \t]*<!--\s*(?:agentlore|rmem)[ \t]*\r?\n(?P<fields>.*?)-->[ \t]*\r?\n?", re.DOTALL)
_MARK = re.compile(r"<!--\s*(?:agentlore|rmem)\b")
_KINDS = {"decision": "decision", "convention": "pattern", "dead-end": "trial", "hazard": "hotfile"}
_GONE = ("superseded", "rejected", "retired", "deprecated", "withdrawn")
_HELD = ("accepted", "proposed", "draft", "active")
# Whatever else it knows about an entry, as a line of evidence.
_TOLD = (("status", "status there"), ("author", "recorded there by"), ("owner", "owned there by"),
         ("evidence", "evidence there"), ("enforcement", "enforced there by"), ("resolved_by", "settled there by"),
         ("verified_at", "verified there at"))  # fmt: skip


def takes(path: str) -> str:
    """The folder `.memory`, given itself or as part of `path`, if a file of it holds such entries; or ""."""
    for place in (path, os.path.join(path, ".memory")):
        if os.path.basename(place.rstrip(os.sep)) == ".memory" and any(_is_one(place, name) for name in FILES):
            return place
    return ""


def _is_one(folder: str, name: str) -> bool:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return bool(_MARK.search(file.read(4_096)))
    except OSError:
        return False


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """The entries of every Markdown file of the folder, in order."""
    seen: dict[str, str] = {}
    names = sorted(os.listdir(path)) if os.path.isdir(path) else []
    files = [name for name in names if name.endswith(".md") and os.path.isfile(os.path.join(path, name))]
    if not files:
        yield Skipped(path, 0, "no folder of agentlore: it has no Markdown file")
    for name in files:
        full = os.path.join(path, name)
        found = read_text(full)
        if isinstance(found, Skipped):
            yield found
            continue
        if found[1] is not None:
            yield found[1]
        yield from _file(full, name, read_body(split_lines(found[0])), seen)


def _file(full: str, name: str, body: Body, seen: dict[str, str]) -> Iterator[Item | Skipped | Warned]:
    sections = [section for section in body.sections if section.level == 2]
    if not sections:
        yield Skipped(full, 0, "no entry in it")
    for section in sections:
        line = body.line_number(section.head)
        text = "".join(body.lines[section.start : section.end])
        told = _FIELDS.search(text)
        fields = _fields(told["fields"]) if told else {}
        key = fields.get("id", "")
        if not key:
            yield Warned(full, line, "it has no id; its heading was taken for one")
            key = f"{name} {section.title.casefold()}"
        if key in seen:
            yield Warned(full, line, f"the id {key} is also that of {seen[key]}; each counts by itself")
            key = f"{key} {section.title.casefold()}"
        seen.setdefault(key, f"{name}:{line}")
        rest = text[: told.start()] + text[told.end() :] if told else text
        yield from _entry(full, f"{name}:{line}", line, section, key, fields, rest.strip())


def _fields(text: str) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs if value.strip()}


def _entry(
    full: str, place: str, line: int, section: Section, key: str, said: dict[str, str], text: str
) -> Iterator[Item | Warned]:
    kind = _KINDS.get(said.get("type", ""), "")
    if not kind and said.get("type"):
        yield Warned(full, line, f"the type {said['type'][:40]!r} is unknown; read as a note")
    status = said.get("status", "").casefold()
    if status and status not in (*_GONE, *_HELD):
        yield Warned(full, line, f"the status {status[:40]!r} is unknown; read as if it held")
    at, naive, problem = when(said.get("created"), full, line)
    if problem:
        yield problem
    # An anchor may be a pattern (`src/**`), which is no file that can be cited.
    anchors = [path for path in re.split(r"[,\s]+", said.get("anchors", "")) if path and not set(path) & set("*?[{")]
    fields: dict[str, Any] = {"summary": section.title, "detail": text, "files": anchors, "aliases": [key]}
    if kind == "hotfile" and anchors:
        fields |= {"path": anchors[0], "why_hot": section.title}
    elif kind == "hotfile":
        kind = "pattern"
    if kind == "trial":
        fields["outcome"] = "failed"
    told = tuple(f"{label}: {said[name]}"[:900] for name, label in _TOLD if name in said)
    ended = f"{status} there" if status in _GONE else ""
    yield Item(kind or "note", fields, key, place, "", at, ended, naive, "", told)
