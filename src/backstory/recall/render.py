"""How an entry reads in one line, safe to put before a model."""

from __future__ import annotations

from backstory.recall.tokens import tenths_of
from backstory.records.event import Entry
from backstory.records.hostile import fenced
from backstory.records.kinds.decision import Decision
from backstory.records.kinds.hotfile import HotFile
from backstory.records.kinds.issuenote import IssueNote
from backstory.records.kinds.trial import Trial

# Characters of a line in a brief. A summary may have 300; 110 keep five lines and more within 250 tokens.
LINE_CHARACTERS = 110


def display_text(entry: Entry) -> str:
    """The words of an entry for one line: what, and in short why or how it failed."""
    if isinstance(entry, HotFile) and entry.path:
        return f"{entry.path} — {entry.summary}"
    if isinstance(entry, Decision) and entry.rationale:
        return f"{entry.summary}: {entry.rationale}"
    if isinstance(entry, Trial) and entry.failure_mode:
        return f"{entry.summary}: {entry.failure_mode}"
    if isinstance(entry, IssueNote) and entry.issue:
        return f"{entry.issue[-6:] if len(entry.issue) == 26 else entry.issue}: {entry.summary}"
    return entry.summary


def display_line(entry: Entry) -> tuple[str, int]:
    """The line without dash, date and id, and what it costs in tenths of a token, estimated from above."""
    held = " [unreviewed: reads like an instruction]" if entry.held == "directive" else ""
    line = fenced(display_text(entry), LINE_CHARACTERS) + held
    return line, tenths_of(line)
