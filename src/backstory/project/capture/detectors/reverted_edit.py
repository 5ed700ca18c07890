"""A change whose exact inverse was made later: it was tried, and taken back.

Not one that was meant to be taken back (a print to find something, a test switched off for a moment, a break to see a
test fail), not white space, and not without a failure or somebody's words in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.capture.between import Reason, reason, was_on_purpose
from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.story import Changed, Story
from backstory.project.capture.wording import quoted, summary

NAME = "reverted-edit"
ACTIVE = True

# Steps looked at between a change and its inverse.
FARTHEST = 300
_PROBE = re.compile(
    r"(?i)\bprint(?:ln|f)?!?\(|console\.\w+\(|\bdebugger\b|\bbreakpoint\(|\blog(?:ger|ging)?\.\w+\(|\bdbg!\("
    r"|var_dump|\bpdb\b"
    r"|\.only\(|\.skip\(|\bxit\(|@pytest\.mark\.skip|\bset -x\b|\becho\b|\bTODO\b|\bDEBUG\b"
)
_Key = tuple[str, str, str]


def detect(story: Story) -> Iterator[Candidate]:
    """The changes that were taken back."""
    open_changes: dict[_Key, int] = {}
    for number, step in enumerate(story.steps):
        if not isinstance(step, Changed) or step.old is None or step.whole or step.gone:
            continue
        began = open_changes.pop((step.path, step.new, step.old), None)
        if began is None:
            open_changes[(step.path, step.old, step.new)] = number
        elif number - began <= FARTHEST:
            yield from _taken_back(story, began, number)


def _taken_back(story: Story, began: int, ended: int) -> Iterator[Candidate]:
    made, undone = story.steps[began], story.steps[ended]
    between = story.steps[began + 1 : ended]
    if not isinstance(made, Changed) or not isinstance(undone, Changed) or not _says_something(made):
        return
    around = story.steps[max(0, began - 2) : ended]
    why = reason(between)
    if why is None or was_on_purpose(around):
        return
    yield Candidate(
        NAME,
        "trial",
        _fields(made, why),
        (
            Evidence(made.offset, f"{made.path} changed"),
            Evidence(why.offset, why.words.removeprefix("after ")[:120]),
            Evidence(undone.offset, "the change taken back"),
        ),
        undone.at,
        weight=4.0 + (1.0 if why.ran else 0.0),
        key=f"undone:{made.path}|{' '.join(made.new.split())[:200]}",
    )


def _fields(made: Changed, why: Reason) -> dict[str, object]:
    new = _distinct(made.new, made.old or "") or "(lines removed)"
    fields: dict[str, object] = {
        "summary": summary(f"A change of {made.path} ({quoted(new, 80)}) was made and taken back {why.words}"),
        "detail": f"In {made.path}, this was put in and taken out again:\n{made.new[:1_500]}\n\n"
        f"Before it stood there:\n{(made.old or '')[:1_500]}",
        "outcome": "failed",
        "files": (made.path,),
    }
    if why.ran:
        fields["failure_mode"] = why.ran.error
        fields["command"] = why.ran.line.same
    return fields


def _says_something(made: Changed) -> bool:
    """Whether a change is more than white space, and no probe."""
    old, new = made.old or "", made.new
    if "".join(old.split()) == "".join(new.split()):
        return False
    return not _PROBE.search(_distinct(new, old)) and not _PROBE.search(_distinct(old, new))


def _distinct(text: str, other: str) -> str:
    """The lines of `text` that `other` has not."""
    there = {line.strip() for line in other.splitlines()}
    return "\n".join(line.strip() for line in text.splitlines() if line.strip() and line.strip() not in there)
