"""A block of lines between two marks in a Markdown file; everything around it is the owner's."""

from __future__ import annotations

import re

from backstory.errors import BackstoryError
from backstory.project.merging.file_text import FileText, unfit

BEGIN, END = "<!-- backstory:begin -->", "<!-- backstory:end -->"
_MARK = re.compile(rf"^[ \t]*({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\r?$", re.MULTILINE)


def put(file: FileText, body: str) -> str:
    """The text with the block holding `body`; appended where there is none."""
    block = file.newline.join([BEGIN, *body.strip("\n").split("\n"), END])
    place = find(file)
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


def find(file: FileText) -> tuple[int, int] | None:
    """Where the block stands, marks included; `BackstoryError` (refused) when its marks are no pair."""
    marks = list(_MARK.finditer(file.text))
    if not marks:
        return None
    if len(marks) != 2 or marks[0].group(1) != BEGIN or marks[1].group(1) != END:
        raise _odd(file, marks[0].start())
    return marks[0].start(1), marks[1].end(1)


def _odd(file: FileText, place: int) -> BackstoryError:
    return unfit(file, place, f"has a mark of ours, and the file has no single pair of {BEGIN} and {END}")
