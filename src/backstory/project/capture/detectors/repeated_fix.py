"""The same failure was mended in the same files in two or more sessions: it comes back.

Works on what the detectors of single sessions found; equal keys are the same fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.wording import summary

NAME = "repeated-fix"
ACTIVE = True

SESSIONS = 2


def across(found: Iterable[tuple[str, Candidate]]) -> Iterator[Candidate]:
    """The fixes that repeat, of (session, candidate) pairs."""
    seen: dict[str, dict[str, Candidate]] = {}
    for session, candidate in found:
        if candidate.key.startswith("fix:"):
            seen.setdefault(candidate.key, {})[session] = candidate
    for _key, sessions in sorted(seen.items()):
        if len(sessions) >= SESSIONS:
            yield _candidate(sessions)


def _candidate(sessions: dict[str, Candidate]) -> Candidate:
    last = max(sessions.values(), key=lambda candidate: candidate.at or 0)
    fields = {**last.fields, "summary": summary(f"In {len(sessions)} sessions: {last.fields['summary']}")}
    places = tuple(
        Evidence(candidate.evidence[0].offset, candidate.evidence[0].shows, session)
        for session, candidate in sorted(sessions.items())
    )
    return msgspec.structs.replace(
        last, detector=NAME, fields=fields, evidence=places[:10], weight=last.weight + len(sessions)
    )
