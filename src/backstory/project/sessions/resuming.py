"""What the next session needs of one that ended: what was asked, what was done, what failed last, where it stopped.

Every line is data out of a transcript, one line each, inside the fence; it holds to a budget of tokens, and what was
left out is counted.
"""

from __future__ import annotations

import msgspec

from backstory.project.fencing import fence
from backstory.project.opened import Project
from backstory.project.sessions import answers
from backstory.recall.tokens import estimate
from backstory.recall.view import View
from backstory.records.hostile import fenced

BUDGET = 600
_LINE, _SHORT = 300, 40


class HandOver(msgspec.Struct, frozen=True):
    """The text, its tokens by the cautious estimate, its budget, the session, and how many lines did not fit."""

    session: str
    text: str
    tokens: int
    budget: int
    left_out: int


def hand_over(project: Project, ref: str = "", *, budget: int = 0, without: str = "") -> HandOver | None:
    """The hand-over of a session, of the last one when `ref` is ""; None when there is none."""
    if not ref:
        newest = [row for row in answers.listed(project, limit=5).sessions if row.id != without]
        if not newest:
            return None
        ref = newest[0].id
    detail = answers.shown(project, ref)
    budget = budget or BUDGET
    kept: list[str] = []
    lines = _lines(detail, _LINE)
    if estimate(fence(project.config.name, [lines[0], "(99 more)"])) > budget:
        lines = _lines(detail, _SHORT)
    for line in lines:
        if estimate(fence(project.config.name, [*kept, line, "(99 more)"])) > budget and kept:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    text = fence(project.config.name, [*kept, *([f"({left} more)"] if left else [])])
    return HandOver(detail.session.id, text, estimate(text), budget, left)


def _lines(detail: answers.SessionDetail, width: int) -> list[str]:
    """What matters most first."""
    session = detail.session
    when = f"{session.began[:16].replace('T', ' ')} UTC" if session.began else "at an unknown time"
    lines = [
        f"The session {session.id} ({session.client}, {when}, {session.outcome}) worked on:"
        f" {_say(session.title, width)}"
    ]
    asked = [turn for turn in detail.turns if turn.asked]
    if asked and _say(asked[-1].asked) != _say(session.title):
        lines.append(f"- asked last: {_say(asked[-1].asked)}")
    last = next((turn for turn in reversed(detail.turns) if turn.said), None)
    if last is not None:
        lines.append(f"- its last words: {_say(last.said)}")
    edited = [file.path for file in detail.files if file.edits]
    if edited:
        lines.append(f"- edited: {_say(', '.join(edited[:12]))}{f' and {len(edited) - 12} more' * (len(edited) > 12)}")
    if detail.commits:
        lines.append(f"- committed: {_say(', '.join(detail.commits))}")
    lines += [f"- failed: {_say(one.command)}: {_say(one.error)}" for one in reversed(detail.failures[-3:])]
    lines += [
        f"- recorded: {entry.short} {_say(entry.summary)} ({_say(_told(entry))})" for entry in detail.entries[-5:]
    ]
    lines += [f"- asked before: {_say(turn.asked)}" for turn in reversed(asked[:-1])]
    return lines


def _told(entry: View) -> str:
    """What an entry counts for, with all that has to be said beside it."""
    return ", ".join(dict.fromkeys([entry.standing, *entry.tags]))


def _say(text: str, width: int = _LINE) -> str:
    return fenced(text, width)
