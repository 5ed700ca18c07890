"""Rules for agents: the list items of CLAUDE.md and AGENTS.md. Our own block in them is not read back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text
from backstory.sources.skipped import Skipped, Warned

NAME = "rules"
FILES = ("CLAUDE.md", "AGENTS.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]) +(?P<text>\S.*)$")
_MORE = re.compile(r"^ {2,}\S")
_HEADING = re.compile(r"^#{1,6} +(?P<text>.*?)\s*#*$")
_MARKED = re.compile(r"(\*\*|__|`+)(\S(?:.*?\S)?)\1")
_OURS_BEGIN, _OURS_END = "backstory:begin", "backstory:end"
# In bytes: four characters of Japanese say what twelve letters say.
_SHORTEST_BYTES = 12


def takes(path: str) -> str:
    """The file, or ""."""
    return path if os.path.isfile(path) and os.path.basename(path) in FILES else ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """One item for each item of a list outside of code, with the heading above it."""
    found = read_text(path)
    if isinstance(found, Skipped):
        yield found
        return
    text, doubt = found
    if doubt is not None:
        yield doubt
    rules = list(_rules(path, text.splitlines()))
    yield from (rule for rule in rules if isinstance(rule, Item))
    prose = [line for line in rules if isinstance(line, int)]
    if len(prose) == len(rules):
        yield Skipped(path, 0, "no list item in it outside of code and of our own block")
    elif prose:
        yield Skipped(path, prose[0], f"in no list, so no rules: {len(prose)} lines from here on")


def _rules(path: str, lines: list[str]) -> Iterator[Item | int]:
    """The rules, and the numbers of the lines that are none."""
    heading, fenced, ours, number = "", False, False, 0
    while number < len(lines):
        line = lines[number]
        number += 1
        ours = (ours or _OURS_BEGIN in line) and _OURS_END not in line
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        if fenced or ours:
            continue
        if found := _HEADING.match(line):
            heading = found["text"]
        elif found := _ITEM.match(line):
            start, text = number, found["text"]
            while number < len(lines) and _MORE.match(lines[number]) and not _ITEM.match(lines[number].lstrip()):
                text += f" {lines[number].strip()}"
                number += 1
            if len(text.encode("utf-8", "replace")) >= _SHORTEST_BYTES:
                yield _item(path, start, text, heading)
        elif line.strip() and not line.lstrip().startswith("<!--") and not fence:
            yield number


def _item(path: str, line: int, text: str, heading: str) -> Item:
    name = os.path.basename(path)
    plain = _MARKED.sub(r"\2", text)
    fields = {"summary": plain[:300], "detail": text if len(plain) > 300 else "", "name": heading[:120]}
    return Item("pattern", fields, f"{name} {' '.join(plain.split()).casefold()}", f"{name}:{line}")
