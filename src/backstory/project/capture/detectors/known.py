"""The detectors, and what a session proposes: the best few of what they find, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from backstory.project.capture.candidate import Candidate
from backstory.project.capture.detectors import (
    error_fix,
    git_undo,
    hot_files,
    issue_note,
    patterns,
    red_edit_green,
    rejection,
    repeated_fix,
    reverted_edit,
    user_decision,
)
from backstory.project.capture.story import Story

__all__ = [
    "ACTIVE",
    "DETECTORS",
    "MOST",
    "Detector",
    "across",
    "all_of",
    "best",
    "repeated_fix",
]

# What is proposed of one session at most.
MOST = 5


class Detector(Protocol):
    """A rule about one session. `ACTIVE` says that what it finds may count without a review."""

    NAME: str
    ACTIVE: bool

    def detect(self, story: Story) -> Iterator[Candidate]:
        """What it finds."""
        ...


DETECTORS: tuple[Detector, ...] = (
    red_edit_green, reverted_edit, git_undo, rejection, error_fix, user_decision, issue_note,
)  # fmt: skip
ACTIVE = frozenset(
    name
    for name, is_active in (
        *((one.NAME, one.ACTIVE) for one in DETECTORS),
        (repeated_fix.NAME, repeated_fix.ACTIVE),
        (hot_files.NAME, hot_files.ACTIVE),
        (patterns.NAME, patterns.ACTIVE),
    )
    if is_active
)


def all_of(story: Story) -> list[Candidate]:
    """All that the detectors find in a session, the best first; what says the same stands there once."""
    found = [candidate for detector in DETECTORS for candidate in detector.detect(story)]
    found.sort(key=lambda one: (-one.weight, one.evidence[0].offset, one.detector))
    seen: set[str] = set()
    kept = []
    for candidate in found:
        marks = _marks(candidate)
        if not marks & seen:
            kept.append(candidate)
        seen |= marks
    return kept


def best(found: Sequence[Candidate]) -> Sequence[Candidate]:
    """What a session proposes of what was found in it: at most `MOST`."""
    return found[:MOST]


def across(stories: Iterable[Story]) -> list[Candidate]:
    """What several sessions propose together."""
    told = list(stories)
    return [*hot_files.across(told), *patterns.across(told)]


def _marks(candidate: Candidate) -> set[str]:
    """What makes two candidates of a session the same: what they say, or the failure that they tell of."""
    said = " ".join(str(candidate.fields.get("summary", "")).casefold().split())
    marks = {said}
    if candidate.key:
        marks.add(f"{candidate.kind}:{candidate.key}")
    return marks
