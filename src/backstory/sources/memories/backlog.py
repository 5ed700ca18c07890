"""Backlog.md: a folder with `tasks`, `completed`, `drafts`, `archive`, `decisions`, `docs` and `milestones`.

A task becomes an issue, a finished one a fix too; a decision record a decision; documents and milestones notes. What
lies in `archive`, and a task that was given up, no longer holds there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from backstory.sources.decision_records import DecisionRecord
from backstory.sources.decision_records import read as read_records
from backstory.sources.frontmatter import Page, read_page
from backstory.sources.markdown import plain
from backstory.sources.memories import notes, records
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import read_text, when
from backstory.sources.skipped import Skipped, Warned, bounded
from backstory.sources.ticket_names import id_before_title
from backstory.sources.ticket_places import STATES
from backstory.sources.values import strings, words

NAME = "backlog"
FOLDERS = ("backlog", ".backlog")
_TASKS = ("tasks", "completed", "drafts", "archive")
_NOTES = ("docs", "milestones")
_SETTINGS = ("config.yml", "config.yaml")
_DONE = frozenset(("done", "completed", "complete", "closed", "resolved"))
_GIVEN_UP = frozenset(
    ("wont do", "wont fix", "cancelled", "canceled", "abandoned", "rejected", "duplicate", "archived")
)
_CREATED, _CLOSED = ("created date", "created", "date"), ("completed date", "updated date", "updated")
_SUMMARY = ("final summary", "implementation notes", "notes")
# What is said of a task above its text, by the key of its fields.
_SAID = (
    ("dependencies", "depends on"), ("parent task id", "part of"), ("milestone", "milestone"), ("labels", "labels"),
    ("priority", "priority"), ("type", "type"), ("assignee", "assigned to"), ("references", "see"),
    ("documentation", "see"),
)  # fmt: skip


def takes(path: str) -> str:
    """The folder that holds `tasks`, given itself or as `backlog` in `path`; or ""."""
    if not os.path.isdir(path):
        return ""
    for place in (path, *(os.path.join(path, name) for name in FOLDERS)):
        named = os.path.basename(place.rstrip(os.sep)) in FOLDERS
        known = named or any(os.path.isfile(os.path.join(place, name)) for name in _SETTINGS)
        if known and os.path.isdir(os.path.join(place, "tasks")):
            return place
    return ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """The tasks by folder and name, then decisions, documents and milestones."""
    if not os.path.isdir(os.path.join(path, "tasks")):
        yield Skipped(path, 0, "no folder of Backlog.md: it has no `tasks`")
        return
    tasks = _Tasks(path)
    for folder in _TASKS:
        for full in _files(os.path.join(path, folder)):
            yield from tasks.task(full)
    yield from tasks.unknown()
    if os.path.isdir(os.path.join(path, "decisions")):
        for one in read_records(path, ("decisions",)):
            yield from records.items(path, one) if isinstance(one, DecisionRecord) else (one,)
    for folder in _NOTES:
        for full in _files(os.path.join(path, folder)):
            if _speaks_about_folder(full):
                yield Skipped(full, 0, "no document: it speaks about the folder")
            else:
                yield from notes.note(full, os.path.relpath(full, path).replace(os.sep, "/"))


def _files(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith(".md"))


def _speaks_about_folder(full: str) -> bool:
    return os.path.basename(full).lower() in ("readme.md", "agents.md", "claude.md")


class _Tasks:
    """The tasks of one folder of Backlog.md."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.states = {_plain(state) for state in _states(path)} | {_plain(state) for state in STATES}
        self.seen: dict[str, str] = {}
        self.needed: list[tuple[str, int, str, str]] = []

    def task(self, full: str) -> Iterator[Item | Skipped | Warned]:
        """One task, and what closed it."""
        found = read_text(full)
        if isinstance(found, Skipped):
            yield found
            return
        if _speaks_about_folder(full):
            yield Skipped(full, 0, "no task: it speaks about the folder")
            return
        if found[1] is not None:
            yield found[1]
        page = read_page(found[0])
        yield from bounded([Warned(full, line, why) for line, why in page.problems])
        id_, line = self._id(full, page)
        if not line:
            yield Warned(full, 0, f"it gives no id; {id_} was taken from its name")
        shown = os.path.relpath(full, self.path).replace(os.sep, "/")
        first = self.seen.setdefault(id_.casefold(), shown)
        if first != shown:
            yield Warned(full, line, f"the id {id_} is also that of {first}; each counts by itself")
        key = id_ if first == shown else f"{id_} {shown}"
        yield from self._items(full, shown, page, id_, key)

    def _id(self, full: str, page: Page) -> tuple[str, int]:
        """What a task calls itself, and the line on which it does; 0 where only its name tells."""
        field = page.fields.get("id")
        said = words(field.value) if field else None
        if field and said:
            return said, field.line
        stem = os.path.splitext(os.path.basename(full))[0]
        return (id_before_title(stem) or stem).upper(), 0

    def _items(self, full: str, shown: str, page: Page, id_: str, key: str) -> Iterator[Item | Warned]:
        title = _word(page, "title") or page.body.title
        if not title:
            yield Warned(full, 0, "it gives no title; its name was taken")
            title = os.path.splitext(os.path.basename(full))[0]
        status = _word(page, "status")
        yield from self._doubts(full, shown, page, status)
        self._note_needs(full, page, id_)
        at, naive, problem = _dated(page, full, _CREATED)
        if problem:
            yield problem
        fields: dict[str, Any] = {
            "summary": title,
            "detail": _detail(page, shown, status),
            "aliases": [id_],
            "files": _listed(page, "modified files"),
        }
        ended = self._ended(shown, status)
        yield Item("issue", fields, key, f"{shown} ({id_})", key, at, ended, naive, full)
        if not ended and (_plain(status) in _DONE or shown.startswith("completed/")):
            at, naive, problem = _dated(page, full, _CLOSED)
            if problem:
                yield problem
            fix = {"summary": _outcome(page) or f"Closed: {title}", "files": fields["files"]}
            yield Item("fix", fix, f"{key} closed", f"{shown} ({id_})", key, at, "", naive, full)

    def _doubts(self, full: str, shown: str, page: Page, status: str) -> Iterator[Warned]:
        field = page.fields.get("status")
        line = field.line if field else 0
        if not status and not shown.startswith("archive/milestones/"):
            yield Warned(full, line, "it gives no status; read as open")
        elif status and _plain(status) not in self.states | _DONE | _GIVEN_UP:
            yield Warned(full, line, f"the status {status[:40]!r} is unknown; read as open")
        elif shown.startswith("completed/") and _plain(status) not in _DONE:
            yield Warned(full, line, f"it lies in completed with the status {status[:40]!r}; read as closed")

    def _note_needs(self, full: str, page: Page, id_: str) -> None:
        for name in ("dependencies", "parent task id"):
            field = page.fields.get(name)
            for other in strings(field.value) if field else ():
                self.needed.append((full, field.line if field else 0, id_, other))

    def unknown(self) -> Iterator[Warned]:
        """The tasks that others name and that are in none of the folders."""
        known = {_number(id_) for id_ in self.seen}
        for full, line, id_, other in self.needed:
            if _number(other) not in known:
                yield Warned(full, line, f"{id_} names {other[:80]}, which is no task here")

    def _ended(self, shown: str, status: str) -> str:
        if shown.startswith("archive/"):
            return "archived there"
        return f"{status[:40]} there" if _plain(status) in _GIVEN_UP else ""


def _states(path: str) -> Iterator[str]:
    for name in _SETTINGS:
        found = read_text(os.path.join(path, name))
        if not isinstance(found, Skipped):
            field = read_page(f"---\n{found[0]}\n---\n").fields.get("statuses")
            yield from strings(field.value) if field else ()


def _plain(text: str) -> str:
    """A status without case, marks and signs: `Won't Do` and `wont-do` are one."""
    return " ".join(re.sub(r"[\W_]+", " ", text.replace("'", "").replace("\u2019", "")).casefold().split())


def _number(id_: str) -> str:
    """An id as others name it: `task-7`, `BACK-7` and `7` are one, and so are `7.01` and `7.1`."""
    digits = re.search(r"(\d+(?:\.\d+)*)\W*$", id_)
    return ".".join(part.lstrip("0") or "0" for part in digits[1].split(".")) if digits else id_.casefold()


def _word(page: Page, name: str) -> str:
    field = page.fields.get(name)
    return (words(field.value) or "") if field else ""


def _listed(page: Page, name: str) -> list[str]:
    field = page.fields.get(name)
    return list(strings(field.value)) if field else []


def _dated(page: Page, full: str, names: tuple[str, ...]) -> tuple[int | None, bool, Warned | None]:
    for name in names:
        if text := _word(page, name):
            return when(text, full, page.fields[name].line)
    return None, False, None


def _detail(page: Page, shown: str, status: str) -> str:
    """All that a task says: its fields a line each, then its text without the marks of the tool."""
    said = [f"{label}: {', '.join(_listed(page, name))}" for name, label in _SAID if _listed(page, name)]
    if status and _plain(status) not in _DONE:
        said.insert(0, f"status there: {status}")
    if shown.startswith("drafts/"):
        said.insert(0, "a draft there")
    return "\n\n".join(filter(None, ["\n".join(said), page.body.text(0, len(page.body.lines))]))


def _outcome(page: Page) -> str:
    """The first paragraph of what was written down when a task was closed."""
    text = page.body.prose(_SUMMARY) or ""
    first = re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0]
    return plain(re.sub(r"(?m)^\s*(?:#{1,6}|[-*+])\s+", "", first))
