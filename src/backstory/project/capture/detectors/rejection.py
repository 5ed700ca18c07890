"""The person did not let a call run, and said why: their words, and what they turned down."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.story import Refused, Story
from backstory.project.capture.wording import quoted, sentences, summary
from backstory.records.hostile import one_line

NAME = "rejection"
ACTIVE = True

# Words that only stop, ask or hurry, and decide nothing.
_EMPTY = re.compile(
    r"(?i)^\W*(?:no|nope|stop|wait|hold on|cancel|continue|go on|try again|retry|later|not now|one (?:sec|moment)"
    r"|hm+|sorry"
    r"|i(?:'ll| will) do (?:it|that) (?:myself|later)|nein|warte|halt|non|attends|espera|para)\b[\W]*$"
)
_ASKS = re.compile(r"[?\uff1f]\s*$")
# Clients put these words where a reason stands.
_NOBODYS = re.compile(r"(?i)^\W*(?:the user wants to clarify|please wait for the user|request interrupted)")


def detect(story: Story) -> Iterator[Candidate]:
    """The refusals that say why."""
    for step in story.steps:
        if not isinstance(step, Refused):
            continue
        words = [part for part in sentences(step.reason) if not _ASKS.search(part) and not _EMPTY.match(part)]
        said = " ".join(words)
        if _NOBODYS.match(step.reason) or (len(said.split()) < 3 and said.isascii()) or len(said) < 5:
            continue
        what = one_line(step.what, 120)
        fields: dict[str, object] = {
            "summary": summary(f"{one_line(said, 200)} (refused: {one_line(step.what, 80)})"),
            "rationale": f"The person refused {what} and said: {quoted(step.reason, 1_500)}",
            "alternatives_rejected": (what,),
        }
        if step.path:
            fields["files"] = (step.path,)
        yield Candidate(
            NAME, "decision", fields, (Evidence(step.offset, f"{what} refused"),), step.at, weight=6.0,
        )  # fmt: skip
