"""What a client can read of sessions: their list, one whole, the hand-over of the last. Loaded with the first call."""

from __future__ import annotations

import os
import time

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project.answers import View
from backstory.project.authority import session_id
from backstory.project.fencing import inert
from backstory.project.opened import Project
from backstory.project.sessions import answers, reading
from backstory.project.sessions.resuming import hand_over
from backstory.records.hostile import fenced
from backstory.surfaces.mcp.replies import Reply, text_of

# A call waits this long for what is new in transcripts; the rest comes with the next one.
_SECONDS = 2.0
_LISTED, _LINE = 20, 300
# A transcript that was written to this recently is of a session that runs: most likely the one that asks.
_RUNS_SECONDS = 60.0


def listed(project: Project) -> Reply:
    """The newest sessions."""
    _refresh(project)
    found = answers.listed(project, limit=_LISTED)
    lines = [_line(row) for row in found.sessions]
    head = "The last sessions of agents in this project:" if lines else "No session of this project is known here."
    after = ["backstory://session/ID has one whole, backstory://resume/ID its hand-over."] if lines else []
    data = {"sessions": inert(msgspec.to_builtins(found.sessions)), "more": found.more}
    return Reply(data, text_of(head, project.config.name, lines, after))


def one(project: Project, ref: str) -> Reply:
    """One session: what was asked and done, what failed, which entries came of it."""
    _refresh(project)
    detail = answers.shown(project, ref)
    lines = [_line(detail.session)]
    lines += [f"  asked: {fenced(turn.asked, _LINE)}" for turn in detail.turns if turn.asked]
    lines += [f"  edited: {fenced(file.path, _LINE)}" for file in detail.files if file.edits]
    lines += [f"  failed: {fenced(f'{item.command}: {item.error}', _LINE)}" for item in detail.failures]
    lines += [f"  committed: {fenced(sha, 40)}" for sha in detail.commits]
    lines += [f"  recorded: {item.short} {_told(item)}: {fenced(item.summary, _LINE)}" for item in detail.entries]
    data = inert(msgspec.to_builtins(msgspec.structs.replace(detail, entries=())))
    data["entries"] = [item.id for item in detail.entries]
    return Reply(data, text_of(f"The session {detail.session.id}:", project.config.name, lines, []))


def resumed(project: Project, ref: str) -> Reply:
    """The hand-over of a session, of the last one that does not run for ""."""
    _refresh(project)
    made = hand_over(project, ref or _last(project))
    if made is None:
        raise BackstoryError(
            "No session of this project is known here.",
            hint="There is one once a client has left a transcript on this machine.",
            code=Exit.USAGE,
        )
    return Reply(msgspec.to_builtins(made), made.text.rstrip("\n"))


def _last(project: Project) -> str:
    own = session_id(os.environ)
    rows = [row for row in answers.listed(project, limit=5).sessions if row.id != own and not row.gone]
    over = [row for row in rows if time.time() - os.stat(row.transcript).st_mtime > _RUNS_SECONDS]
    return next((row.id for row in over or rows), "")


def _line(row: answers.SessionRow) -> str:
    when = row.began[:16].replace("T", " ") or "at an unknown time"
    counts = f"{row.turns} turns, {row.edits} edits, {row.failed} failed"
    return f"- {fenced(row.id, 100)} {row.client}, {when}, {row.outcome}: {fenced(row.title, _LINE)} ({counts})"


def _told(item: View) -> str:
    return fenced(", ".join([item.standing, *item.tags]), _LINE)


def _refresh(project: Project) -> None:
    reading.refresh(project.config, os.environ, os.path.expanduser("~"), seconds=_SECONDS)
