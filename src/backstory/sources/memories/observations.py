"""What basic-memory writes into its notes: `- [category] text #tag (context)` and `- relation [[Target]]`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.sources.markdown import TEXT, Body
from backstory.sources.memories.item import Item

_OBSERVATION = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\W\d][^\[\]()]{0,39})\]\s+(?P<text>\S.*)$")
_TAG = re.compile(r"(?:^|\s)#(\w[\w/-]*)")
_CONTEXT = re.compile(r"\s*\((?P<context>[^()]+)\)\s*$")
_TARGET = re.compile(r"(?<!!)\[\[([^\[\]|#]{1,200})(?:[#|][^\[\]]{0,200})?\]\]")
# The categories that are kinds of entry; an observation of any other stays in its note alone.
_KINDS = {
    "decision": "decision", "convention": "pattern", "pattern": "pattern", "rule": "pattern", "gotcha": "lesson",
    "lesson": "lesson", "problem": "issue", "issue": "issue", "bug": "issue",
}  # fmt: skip


def observed(body: Body, full: str, shown: str, at: int | None, naive: bool, ended: str) -> Iterator[Item]:
    """The observations of a note that are a kind of entry of their own."""
    for number, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True)):
        found = _OBSERVATION.match(line.rstrip()) if kind == TEXT else None
        wanted = _KINDS.get(found["category"].strip().casefold()) if found else None
        if found is None or wanted is None:
            continue
        text, tags = found["text"], _TAG.findall(found["text"])
        context = _CONTEXT.search(text)
        said = " ".join(_TAG.sub(" ", text[: context.start()] if context else text).split())
        if said:
            fields = {"summary": said, "detail": context["context"] if context else "", "aliases": tags}
            key = f"{shown} [{found['category'].casefold()}] {said.casefold()}"
            yield Item(wanted, fields, key, f"{shown}:{body.line_number(number)}", "", at, ended, naive, full)


def related(body: Body) -> Iterator[str]:
    """The notes that this one links to, by their names."""
    for line, kind in zip(body.lines, body.kinds, strict=True):
        if kind == TEXT and "[[" in line:
            yield from (name.strip() for name in _TARGET.findall(line))
