"""Tickets in a tree of Backlog.md, written as that tool writes its own.

The tool only knows files that are named `<prefix>-<number> - <title>.md`, directly in `tasks`, with its own keys. A
ticket of another shape would be read by us alone. In `tasks` it also takes `<stem>.run.md` for a second task of the
same id, so run records go into the folder `<stem>` there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backstory.records.times import format_instant
from backstory.sources.frontmatter import Given, block, read_page
from backstory.sources.skipped import Skipped
from backstory.sources.ticket_names import id_before_title
from backstory.sources.ticket_places import read_text, shown
from backstory.sources.values import integer, words

TASKS, DRAFTS = "tasks", "drafts"
_SETTINGS = ("config.yml", "config.yaml")
_PREFIX, _STATE = "task", "To Do"
# What the tool makes of a title: these become dashes, those are dropped.
_TO_DASH = re.compile(r'[<>:"/\\|?*\s\x00-\x1f\x7f]+')
_DROPPED = re.compile(r"['(),!@#$%^&+=\[\]{};]")


@dataclass(frozen=True, slots=True)
class Backlog:
    """A folder of Backlog.md: the prefix of its ids, the digits they have at least, the state of a new task."""

    folder: str
    prefix: str = _PREFIX
    digits: int = 0
    state: str = _STATE


def backlog_at(root: str, folder: str) -> Backlog | None:
    """The tree of Backlog.md whose folder is `folder`, as its settings say; None if there is none."""
    if not os.path.isdir(os.path.join(root, folder, TASKS)):
        return None
    texts = (read_text(root, f"{folder}/{name}") for name in _SETTINGS)
    text = next((text[0] for text in texts if not isinstance(text, Skipped)), None)
    if text is None:
        return None
    fields = read_page(f"---\n{text}\n---\n").fields
    said = {key: words(field.value) or "" for key, field in fields.items()}
    prefix = said.get("task prefix", "")
    return Backlog(
        folder,
        prefix if re.fullmatch(r"[A-Za-z]+", prefix) else _PREFIX,
        min(integer(said.get("zero padded ids", ""))[0] or 0, 9),
        said.get("default status") or _STATE,
    )


def next_id(prefix: str, stems: Iterable[str], digits: int = 0) -> str:
    """The id after the highest among the stems, subtasks and archived ones included: `BACK-13`."""
    known = (re.match(rf"{re.escape(prefix)}-(\d{{1,9}})", shown(stem), re.IGNORECASE) for stem in stems)
    highest = max((int(match[1]) for match in known if match), default=0)
    return f"{prefix.upper()}-{highest + 1:0{max(digits, 1)}d}"


def stem_of(id_: str, title: str) -> str:
    """The name of the file without its ending, as the tool makes it of id and title."""
    name = re.sub("-+", "-", _TO_DASH.sub("-", _DROPPED.sub("", _TO_DASH.sub("-", title)))).strip("-. ")
    while len(name) > 100 or len(name.encode("utf-8", "replace")) > 150:
        name = name[:-1].strip("-. ")
    return f"{id_.lower()} - {name or 'untitled'}"


def id_of(stem: str) -> str:
    """What the tool calls the ticket of this stem; the stem where it has no id."""
    before = id_before_title(stem)
    return before.upper() if before else stem


def ticket_text(id_: str, fields: Mapping[str, Given | None], now: int) -> str:
    """A task as the tool writes it, with the fields of a ticket; its times are UTC, to the minute.

    What the tool has no word for (source, why, scope) stands under our own key or heading, which it leaves alone.
    """
    frontmatter: dict[str, Given] = {
        "id": id_,
        "title": fields.get("title") or "",
        "status": fields.get("state") or _STATE,
        "assignee": [],
        "created_date": format_instant(now)[:16].replace("T", " "),
        "labels": [],
        "dependencies": fields.get("depends_on") or [],
    }
    more = {"modified_files": "touches", "priority": "priority", "type": "kind", "source": "source"}
    frontmatter |= {key: value for key, name in more.items() if (value := fields.get(name))}
    parts = [block(frontmatter), "\n## Description\n", _marked("SECTION:DESCRIPTION", _prose(fields.get("goal")), "\n")]
    for name, heading in (("why", "Why"), ("scope", "Scope"), ("verification", "Verification")):
        if prose := _prose(fields.get(name)):
            parts.append(f"\n## {heading}\n\n{prose}\n")
    criteria = [f"- [ ] #{number} {item}" for number, item in enumerate(_items(fields.get("acceptance")), 1)]
    if criteria:
        parts += ["\n## Acceptance Criteria\n", _marked("AC", "\n".join(criteria), "")]
    return "".join(parts)


def _marked(name: str, text: str, lead: str) -> str:
    end = "\n" if text else ""
    return f"{lead}<!-- {name}:BEGIN -->\n{text}{end}<!-- {name}:END -->\n"


def _prose(value: Given | None) -> str:
    return value.strip() if isinstance(value, str) else ""


def _items(value: Given | None) -> Sequence[str]:
    if value is None or isinstance(value, int | float):
        return ()
    return [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
