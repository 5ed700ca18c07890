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
# What tells a choice from a task: a no, a comparison, a rule, a ground.
_CHOOSES = re.compile(
    r"(?i)\b(?:no|not|don'?t|doesn'?t|isn'?t|shouldn'?t|won'?t|never|always|only|must|should|instead|rather|prefer"
    r"|use|using|keep|leave|avoid|without|because|since|wrong|already|too|enough|need(?:ed)?|want|stop \w+ing"
    r"|unnecessary|overkill|better"
    r"|nicht|kein\w*|statt|lieber|nur|immer|nie"
    r"|pas|plut\u00f4t|jamais|toujours|sans|nunca|siempre|mejor|sin|solo|en vez)\b"
    r"|[^\x00-\u024f\u2000-\u206f]{5}"
)
_OWN = re.compile(r"(?i)^\W*(?:i(?:'ll| will| can| did| have|'ve)|let me)\b")
_ASKS = re.compile(r"[?\uff1f]\s*$")
# Clients put these words where a reason stands.
_NOBODYS = re.compile(r"(?i)^\W*(?:the user wants to clarify|please wait for the user|request interrupted)")


def detect(story: Story) -> Iterator[Candidate]:
    """The refusals that say why."""
    for step in story.steps:
        if not isinstance(step, Refused):
            continue
        said = " ".join(part for part in sentences(step.reason) if not _says_nothing(part))
        if (
            not _CHOOSES.search(said)
            or _NOBODYS.match(step.reason)
            or (len(said.split()) < 3 and said.isascii())
            or len(said) < 5
        ):
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


def _says_nothing(part: str) -> bool:
    return bool(_ASKS.search(part) or _EMPTY.match(part) or _OWN.match(part))
