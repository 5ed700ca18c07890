"""What the person decided or prefers, in their own turns: one sentence of theirs, word for word.

Not a question, a task, a short answer or something pasted. The words of a sentence are all there is to go by, so it is
proposed only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.story import Asked, Story
from backstory.project.capture.wording import quoted, sentences, summary

NAME = "user-decision"
ACTIVE = False

# A turn that is longer is a plan, a review or a log that somebody pasted.
LONGEST_TURN, LONGEST, SHORTEST = 1_500, 300, 12
# A sentence of fewer words takes the one before it along; below the second number where it only points at something.
CLEAR, LONG_ENOUGH = 7, 12
MOST_OF_A_TURN = 2

# Where an order begins: a sentence, a clause, or behind a word that only leads to it.
_START = (
    r"(?:^|[,;:.(]\s*|\s[-\u2013\u2014]+\s*"
    r"|\b(?:please|and|so|also|instead|just|ok(?:ay)?|yes|no|nope|great|good|cool|then|now)[,.!]?\s+)"
)
_DECIDES = re.compile(
    r"(?i)"
    r"\b(?:use|prefer|choose|pick|go with|stick (?:to|with)|switch to|keep|want|put|make|call|write|store|run"
    r"|should (?:be|have|go|live|say|return))\b"
    r"[^.?!]{2,120}"
    r"\b(?:instead of|rather than|(?:and |, )not (?:the|a|an|in|on|with|by|just|use|\w+ing)\b)"
    rf"|{_START}(?:let'?s|lets|we(?:'ll| will| should)) (?:(?:just|always|instead) )?"
    r"(?:go with|use|stick (?:to|with)|keep|not|avoid|drop|skip|only|prefer|standardi[sz]e on|limit|restrict|cap)\b"
    rf"|{_START}(?:always|never) (?!mind|again|works?\b|seen|been|happen|had|got|was|were|did|going|\w+e[dn]\b)[a-z]+"
    rf"|(?:{_START}|\b(?:I|we|you) )"
    r"(?:don'?t|do not|avoid|no need (?:to|for)|shouldn'?t|should not|must not|mustn'?t)\b"
    r"[^.?!]{3,160}\b(?:because|since (?:it|we|this|that|they|the)\b|otherwise|in case)\b"
    r"|\bI(?:'d| would)? (?:prefer|rather|decided|have decided|always want|never want"
    r"|don'?t (?:want|like)\b(?! (?:it|that|this|you to)\b))"
    r"|\bI'?ve decided\b|\bwe (?:decided|agreed|chose)\b|\b(?:my|our) preference\b"
    r"|\bwe (?:(?:explicitly|really|definitely|also) )?(?:shouldn'?t|should not|don'?t|do not|never|always) "
    r"(?:actually )?"
    r"(?:want|use|need to|support|allow|ship|do|put|write|commit|store|have to)\b"
    r"|\b(?:from now on|going forward|as a rule|by convention|in (?:the|this) (?:project|codebase|repo),)\b"
    r"|(?<!\bif )(?<!case )(?<!when )(?<!what )(?<!that )(?<!once )\bwe (?:only |just |explicitly |really )?want "
    r"(?:an?|only|just|all|every|it to|them to|to (?:keep|use|have|be|avoid|support|stay|only))\b"
    r"|(?<!this )(?<!\bit )(?<!that )\bshould(?:n'?t| not) (?:be in|appear|live|go|depend|use|import|have|need)\b"
    r"|\bshould be (?:just|only)\b|\b(?:is|are) only for\b"
    r"|\b(?:must|should|will|shall) (?:only|never|always)\b"
)
_ELSEWHERE = re.compile(
    r"(?i)\b(?:lieber|statt(?:dessen)?|anstatt|anstelle)\b|\bab (?:jetzt|sofort)\b|\bwir (?:nehmen|bleiben bei"
    r"|verwenden|nutzen)\b"
    r"|\b(?:immer|nie(?:mals)?) (?!noch|wieder|mehr|gesehen|passiert)\w+(?:en|e)\b|\b(?:nicht"
    r"|kein\w*)\b.{3,120}\b(?:weil|da sonst|sonst)\b"
    r"|\b(?:plut\u00f4t que|au lieu d|d\u00e9sormais|dor\u00e9navant|on (?:part|reste) sur|je pr\u00e9f\u00e8re)"
    r"|\btoujours \w+(?:er|ir|re|ez)\b"
    r"|\bn(?:e |')\w+ jamais\b|\b(?:pas|jamais)\b.{3,120}\b(?:parce qu|car|sinon)\b"
    r"|\b(?:en (?:lugar|vez) de|prefiero|vamos con|a partir de ahora|de ahora en adelante|mejor (?:usa|usar))\b"
    r"|\b(?:siempre|nunca) (?:us|hag|pong|escrib|dej|quier)\w+|\bno \w+.{3,120}\b(?:porque|ya que|si no)\b"
    r"|\u3067\u306f\u306a\u304f|\u306e\u4ee3\u308f\u308a\u306b|\u306b\u3057\u307e\u3057\u3087\u3046"
    r"|\u3067\u3044\u304d\u307e\u3057\u3087\u3046|\u65b9\u91dd|\u4eca\u5f8c\u306f"
    r"|\u5fc5\u305a.+(?:\u3057\u3066|\u4f7f)|\u5e38\u306b.+(?:\u3057\u3066|\u4f7f)|(?:\u3057"
    r"|\u4f7f\u308f)\u306a\u3044\u3067(?:\u304f\u3060\u3055\u3044)?"
)
# Asks, wonders, tells of something that went wrong, or hands over one task.
_ASKS = re.compile(
    r"(?i)[?\uff1f]|^\W*(?:why|what|how|when|where|who|which|can|could|would|will|is|are|do|does|did|should|shall"
    r"|may|any|have|has)\b(?! not\b)"
    r"|\b(?:i wonder|not sure|i think maybe|maybe|perhaps|could you|can you|would you|i guess)\b"
)
_TELLS = re.compile(
    r"(?i)\b(?:it|this|that|he|she|they|you) (?:still |just |also )?(?:says?|said|shows?|fails?|failed|crash\w*"
    r"|doesn't|didn't|isn't|wasn't)\b"
)
# Written by a program, or quoted, or a part of a document.
_PASTED = re.compile(
    r"^\s*(?:[>|$#%+@<{\[\u23fa\u276f\u2502]|\d+[:|]|\d{4}-\d\d|at \S+\(|File \"|(?:\w+\.)+\w+:|[-*\u2022] )|[{};]\s*$"
    r"|=>|\t|\\n|::|https?://\S+$|^\s*\w+ = |\*\*|`[^`]{40,}`"
)
# Counts on a list that stood on somebody's screen.
_LISTED = re.compile(
    r"(?i)\(\d\)|\b(?:improvement|option|issue|finding|point|step|item|number|question|suggestion)s? \d+\b"
)
# The client's words, not a person's.
_NOBODYS = "Implement the following plan:"
# Words that point at something said before; what a sentence begins with tells whether it can stand alone.
_VAGUE = re.compile(r"(?i)\b(?:it|that|this|these|those|them|something)\b")
_HEAD = 5
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


def detect(story: Story) -> Iterator[Candidate]:
    """The sentences that decide something."""
    for step in story.steps:
        if isinstance(step, Asked) and len(step.text) <= LONGEST_TURN and not step.text.startswith(_NOBODYS):
            for said in _decisions(step.text)[:MOST_OF_A_TURN]:
                yield Candidate(
                    NAME,
                    "decision",
                    {"summary": summary(said), "rationale": f"The person said: {quoted(step.text, 1_500)}"},
                    (Evidence(step.offset, "the person said so"),),
                    step.at,
                    weight=_weight(said),
                    which=said,
                )


def _decisions(text: str) -> list[str]:
    """The sentences that decide, each with the one before it where it does not say by itself what it is about."""
    found: list[str] = []
    before = ""
    for said in sentences(_FENCED.sub("\n", text)):
        if _decides(said):
            words = said.split()
            points = len(words) < LONG_ENOUGH and _VAGUE.search(" ".join(words[:_HEAD]))
            if points or (len(words) < CLEAR and said.isascii()):
                if found and found[-1] == before:
                    found[-1] = f"{before} {said}"
                elif before and not _PASTED.search(before) and len(before) <= LONGEST:
                    found.append(f"{before} {said}")
                elif len(words) >= CLEAR - 2 and not points:
                    found.append(said)
            else:
                found.append(said)
        before = said
    return found


def _decides(said: str) -> bool:
    if len(said) * (1 if said.isascii() else 2) < SHORTEST or len(said) > LONGEST or _PASTED.search(said):
        return False
    if said.isascii() and len(said.split()) < 4:
        return False
    if _ASKS.search(said) or _TELLS.search(said) or _LISTED.search(said):
        return False
    return bool(_DECIDES.search(said) or _ELSEWHERE.search(said))


def _weight(said: str) -> float:
    firm = re.search(r"(?i)\b(?:always|never|must|decided|prefer|because|from now on|instead of|rather than)\b", said)
    return 3.0 if firm else 2.5
