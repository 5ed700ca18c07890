"""What a detector gives: something that might be worth keeping, with the places in the transcript that show it."""

from __future__ import annotations

from typing import Any

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """A place in the transcript, and what it shows in a few words (`pytest failed`, `src/a.py edited`)."""

    offset: int
    shows: str
    # Which session, where a candidate rests on several; "" for the one it was found in.
    session: str = ""


class Candidate(msgspec.Struct, frozen=True):
    """An entry that could be written.

    `fields` are those that the write gateway takes for `kind` (summary, detail, files, outcome, ...); nothing in them
    is redacted yet, the gateway does that. `evidence` is in order, and its first place is what identifies the candidate
    together with `detector`, and with `which` where a detector finds several things at one place. `at` is when it
    happened, microseconds. `weight` orders the candidates of a session.
    """

    detector: str
    kind: str
    fields: dict[str, Any]
    evidence: tuple[Evidence, ...]
    at: int | None = None
    weight: float = 1.0
    # Equal for candidates of several sessions that say the same: patterns and repeated fixes are counted by it.
    key: str = ""
    which: str = ""
