"""The kinds and operations by name: the one list that codec, gateway, surfaces and docs read."""

from __future__ import annotations

from backstory.records import operations as ops
from backstory.records.event import Entry
from backstory.records.kinds.decision import Decision
from backstory.records.kinds.fix import Fix
from backstory.records.kinds.hotfile import HotFile
from backstory.records.kinds.hypothesis import Hypothesis
from backstory.records.kinds.issue import Issue
from backstory.records.kinds.issuenote import IssueNote
from backstory.records.kinds.lesson import Lesson
from backstory.records.kinds.note import Note
from backstory.records.kinds.pattern import Pattern
from backstory.records.kinds.trial import Trial

KINDS: dict[str, type[Entry]] = {
    "decision": Decision,
    "trial": Trial,
    "hotfile": HotFile,
    "pattern": Pattern,
    "issuenote": IssueNote,
    "issue": Issue,
    "hypothesis": Hypothesis,
    "fix": Fix,
    "note": Note,
    "lesson": Lesson,
}

OPERATIONS: dict[str, type[ops.Operation]] = {
    "confirm": ops.Confirm,
    "retire": ops.Retire,
    "reject": ops.Reject,
    "lift": ops.Lift,
    "approve": ops.Approve,
    "contest": ops.Contest,
    "resolve": ops.Resolve,
    "redact": ops.Redact,
    "undo": ops.Undo,
    "snooze": ops.Snooze,
    "share": ops.Share,
}

# Other names that people and agents use for a kind.
KIND_ALIASES = {
    "attempt": "trial",
    "tried": "trial",
    "hot_file": "hotfile",
    "hot": "hotfile",
    "issue_note": "issuenote",
    "observation": "issuenote",
    "decide": "decision",
    "fixed": "fix",
    "bug": "issue",
}

STANDINGS = ("proposed", "active", "confirmed", "contested", "superseded", "retired", "rejected", "expired")
LIVE = ("active", "confirmed", "contested")


def kind_name(text: str) -> str | None:
    """The kind that `text` names (case and plural forgiven), or None."""
    word = text.strip().lower().replace("-", "_")
    for candidate in (word, word.removesuffix("s"), word.removesuffix("es")):
        name = KIND_ALIASES.get(candidate, candidate)
        if name in KINDS:
            return name
    return None
