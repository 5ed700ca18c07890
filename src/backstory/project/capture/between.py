"""Why something was taken back, as far as the transcript tells: a failure, or somebody's words in between."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from backstory.project.capture.flakes import is_flake, is_look, is_missing
from backstory.project.capture.story import Asked, Ran, Said, Step
from backstory.project.capture.wording import because, command_of, quoted, sentences

# What is taken back because it was meant to be: a probe, a change made to see a test fail, a mock for a moment.
_ON_PURPOSE = re.compile(
    r"(?i)\btemporar|\bfor (?:a moment|now)\b|\bbreak (?:it|this|the) .{0,40}(?:on purpose|to (?:see|verify|check"
    r"|prove))"
    r"|(?:verify|check|confirm|see|prove|ensure|make sure)\b.{0,40}\btests? (?:actually |really )?(?:fails?|catch)"
    r"|\bmutat|\binvert(?:ed|ing)?\b|\bon purpose\b|\bintentional|\bdeliberate|\bsanity.check"
    r"|\bput (?:it|this|that) back\b"
    r"|\bdebug (?:log|print|output|statement)"
    r"|\bremove the (?:debug|log|print)|\bred.green\b|\bclean(?:ing)? up (?:the )?(?:debug|test)"
)
# Of a long text the end is about what comes next.
_LAST_WORDS = 600
# What stands further back than so many steps is no reason.
_NEAR = 100


class Reason(msgspec.Struct, frozen=True):
    """What stands in between. `words` continue a sentence; `ran` is the failure, if it was one."""

    words: str
    offset: int
    ran: Ran | None = None


def reason(steps: Sequence[Step]) -> Reason | None:
    """The last failure, or else the last words of a person, or else of the agent. None where nobody says why."""
    steps = steps[-_NEAR:]
    for step in reversed(steps):
        if not isinstance(step, Ran) or step.outcome != "failed":
            continue
        if not (is_flake(step) or is_look(step) or is_missing(step)):
            return Reason(f"after {command_of(step)} failed{because(step)}", step.offset, step)
    for kind, who in ((Asked, "the person said"), (Said, "the agent said")):
        for step in reversed(steps):
            if isinstance(step, kind) and (told := _telling(step.text)):
                return Reason(f"after {who} {quoted(told)}", step.offset)
    return None


def was_on_purpose(steps: Sequence[Step]) -> bool:
    """Whether it was said that the change would not stay, or that a failure was wanted."""
    return any(
        (isinstance(step, Asked | Said) and _ON_PURPOSE.search(step.text[-_LAST_WORDS:]) is not None)
        or (isinstance(step, Ran) and "INVERT" in step.error.upper())
        for step in steps[-_NEAR:]
    )


def _telling(text: str) -> str:
    """The last sentence that is long enough to say something."""
    said = [sentence for sentence in sentences(text) if len(sentence.split()) >= 4 or not sentence.isascii()]
    return said[-1].rstrip(":") if said else ""
