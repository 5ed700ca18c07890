"""A block of lines between two marks in a Markdown file; everything around it is the owner's."""

from __future__ import annotations

import re
from typing import NamedTuple

from backstory.project.merging.file_text import FileText, unfit

BEGIN, END = "<!-- backstory:begin -->", "<!-- backstory:end -->"


class Marks(NamedTuple):
    """The two lines that a block stands between."""

    begin: str
    end: str


INSTRUCTIONS = Marks(BEGIN, END)


def put(file: FileText, body: str, marks: Marks = INSTRUCTIONS) -> str:
    """The text with the block holding `body`; appended where there is none."""
    block = file.newline.join([marks.begin, *body.strip("\n").split("\n"), marks.end])
    place = find(file, marks)
    text = file.text
    if place is not None:
        return text[: place[0]] + block + text[place[1] :]
    if text and not text.endswith("\n"):
        text += file.newline
    return text + (file.newline if text.strip() else "") + block + file.newline


def drop(file: FileText) -> str:
    """The text without the block, and without the blank line before it."""
    place = find(file)
    if place is None:
        return file.text
    before, after = file.text[: place[0]], file.text[place[1] :]
    for line in ("\r\n", "\n"):
        if after.startswith(line):
            after = after[len(line) :]
            break
    for line in ("\r\n", "\n"):
        if before.endswith(line * 2) or before == line:
            before = before[: -len(line)]
            break
    return before + after


def find(file: FileText, marks: Marks = INSTRUCTIONS) -> tuple[int, int] | None:
    """Where the block stands, marks included; `BackstoryError` (refused) when its marks are no pair."""
    either = "|".join(map(re.escape, marks))
    found = list(re.finditer(rf"^[ \t]*({either})[ \t]*\r?$", file.text, re.MULTILINE))
    if not found:
        return None
    if [mark.group(1) for mark in found] != list(marks):
        what = f"has a mark of ours, and the file has no single pair of {marks.begin} and {marks.end}"
        raise unfit(file, found[0].start(), what)
    return found[0].start(1), found[1].end(1)
