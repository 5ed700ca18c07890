"""A folder of decision records (ADR): one decision a file. What its file calls rejected or superseded has ended."""

from __future__ import annotations

import os
from collections.abc import Iterator

from backstory.sources.decision_records import DecisionRecord
from backstory.sources.decision_records import read as read_records
from backstory.sources.decision_words import DATE
from backstory.sources.frontmatter import Page, read_page
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text
from backstory.sources.skipped import Skipped, Warned
from backstory.sources.values import instant, words

NAME = "adr"
FOLDERS = ("adr", "adrs", "decisions", "decision-records", "decision_records")
_ENDED = ("rejected", "deprecated", "superseded")


def takes(path: str) -> str:
    """The folder, or "": one that is called as folders of decision records are."""
    return path if os.path.isdir(path) and os.path.basename(path.rstrip(os.sep)).lower() in FOLDERS else ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """The records of the folder and of those in it, by path."""
    if not os.path.isdir(path):
        yield Skipped(path, 0, "no folder of decision records")
        return
    empty = True
    for one in read_records(path, (".",)):
        empty = False
        yield from items(path, one) if isinstance(one, DecisionRecord) else (one,)
    if empty:
        yield Skipped(path, 0, "no Markdown file in it")


def items(root: str, record: DecisionRecord) -> Iterator[Item | Warned]:
    """A record of the folder `root` as a decision, and a date in its fields that is none."""
    full = os.path.join(root, record.path)
    page = _page(full)
    date = page.field(DATE) if page else None
    text = words(date.value) if date else None
    if date and text and instant(text)[0] is None:
        yield Warned(full, date.line, f"no date: {text[:40]!r}; it was left out")
    ended = f"{record.status} there" if record.status in _ENDED else ""
    if record.superseded_by and ended:
        ended = f"superseded there by {', '.join(record.superseded_by)}"
    fields = {
        "summary": record.title,
        "detail": _rest(page, record),
        "rationale": record.decision,
        "alternatives_rejected": [text[:500] for text in record.rejected[:20]],
        "files": list(record.files),
    }
    told = [f"status there: {record.status}"] if record.status else []
    if record.deciders:
        told.append(f"decided there by {', '.join(record.deciders)}"[:500])
    approved = ", ".join(record.approvers)[:300] if record.status == "accepted" else ""
    yield Item("decision", fields, record.path, record.path, "", record.date, ended, False, full, tuple(told), approved)


def _page(full: str) -> Page | None:
    found = read_text(full)
    return None if isinstance(found, Skipped) else read_page(found[0])


def _rest(page: Page | None, record: DecisionRecord) -> str:
    """The text of the record without the decision, which has a field of its own: consequences and all."""
    if page is None:
        return record.context
    text = "".join(page.body.lines).replace("\r\n", "\n").strip()
    return text.replace(record.decision, "", 1).strip() if record.decision else text
