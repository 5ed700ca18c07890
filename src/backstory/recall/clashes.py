"""Whether two sentences say different things about one subject. Deterministic, from words alone; no I/O.

Four signs, the first three each held by pairs that must clash and pairs that must not (`tests/recall/test_clashes.py`):

- turned down: one side is about what the other rejected, among its alternatives or in its own words (`A over B`)
- opposite: the same words, one side denied; or a pair such as enable and disable among otherwise the same words
- different: the same sentence but for one slot that can hold one value only (`Use tabs for indentation`)
- similar: close wording without a sign of conflict; offered for superseding, never listed as a conflict

A general rule and its exception, and one rule for two scopes, are no conflict: where both sides have words of their
own besides what opposes them, or one is narrower, nothing is said. Precision counts more here than recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from backstory.records.value import similarity, value_key

SIMILAR = 0.65
_SLOT = 4


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEGATIONS = _set(
    "not no never dont doesnt cannot cant wont without avoid stop drop disallow forbid ban nor isnt arent shouldnt"
    " mustnt neither"
)
_STOP = _set(
    "a an and are as at be by do for from has have in into is it its of on or our so that the their then this to use"
    " uses used using was we were when where which will with all any always must should only every keep make longer"
    " anymore please"
)
_SCOPING = _set("for in on when of to with from by at under inside during while within per via after before if unless")
_BE = _set("is are be was were as stay stays remain remains default defaults run runs load loads in to")
_CHOOSING = _set("use uses chose choose chosen pick picked adopt adopted select selected prefer preferred using")
# What a thing has one of: `The log format is X` and `The log format is Y` cannot both hold.
_SINGLE = _set(
    "format encoding port timeout version name language license licence branch style type size length limit minimum"
    " maximum default database backend protocol key separator unit precision depth budget interval level engine mode"
    " strategy target owner order id ids timestamps dates threshold ttl count indentation framework runner"
)
_PLACING = _set("store save persist keep put")
_WRITING = _set("write implement rewrite")
# A number behind one of these names a thing and is no value.
_NAMING = _set(
    "issue issues ticket pr bug module step phase number no section chapter layer milestone release case part table"
    " figure line page item entry decision rule test file stage task option appendix sprint"
)
_NUMBERS = _set("one two three four five six seven eight nine ten eleven twelve zero")
_VERSUS = _set("over not")

_VERBS = (
    ("enable", "disable"), ("allow", "forbid"), ("allow", "deny"), ("always", "never"), ("add", "remove"),
    ("include", "exclude"), ("merge", "rebase"), ("keep", "drop"), ("keep", "remove"), ("before", "after"),
    ("accept", "refuse"), ("accept", "reject"), ("commit", "ignore"), ("tabs", "spaces"),
)  # fmt: skip
# These describe: they oppose each other as what is said (`calls are sync`), not as what it is said of (`sync calls`).
_STATES = (
    ("enabled", "disabled"), ("allowed", "forbidden"), ("sync", "async"), ("synchronous", "asynchronous"),
    ("on", "off"), ("true", "false"), ("required", "optional"), ("mandatory", "optional"), ("public", "private"),
    ("mutable", "immutable"), ("lazy", "eager"), ("lazily", "eagerly"), ("strict", "lenient"), ("serial", "parallel"),
    ("sequential", "parallel"), ("serially", "parallel"), ("monorepo", "multirepo"), ("optin", "optout"),
    ("relative", "absolute"), ("utc", "local"), ("stateless", "stateful"), ("sorted", "unsorted"),
    ("blocking", "nonblocking"), ("first", "last"), ("signed", "unsigned"),
)  # fmt: skip

_OPPOSING = frozenset(word for pairs in (_VERBS, _STATES) for pair in pairs for word in pair)


class Side(msgspec.Struct, frozen=True):
    """What is compared: the sentence, what it turned down, the cited paths, the scope."""

    id: str
    kind: str
    summary: str
    turned_down: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()
    scope: str = ""


def compare(one: Side, other: Side, *, suggest: bool = True) -> tuple[str, str]:
    """(sign, why) of two sides; ("", "") when they are about different things or agree. `suggest`: similar ones too."""
    if one.scope and other.scope and one.scope != other.scope:
        return "", ""
    a, b = _sentence(one.summary), _sentence(other.summary)
    shared_file = not one.paths.isdisjoint(other.paths)
    for first, second, down in ((a, b, one.turned_down), (b, a, other.turned_down)):
        why = _turned_down(first, second, down, shared_file) if down or first.over else ""
        if why:
            return "turned down", why
    for found in (_denied(a, b, shared_file), _opposed(a, b, shared_file)):
        if found:
            return "opposite", found
    why = _slot(a.words, b.words)
    if why:
        return "different", why
    if suggest and a.words != b.words and similarity(one.summary, other.summary) >= SIMILAR:
        return "similar", "nearly the same words"
    return "", ""


class _Sentence:
    """A sentence taken apart once, since each is compared with many."""

    __slots__ = ("about", "chosen", "content", "denied", "negated", "opposing", "over", "words")

    def __init__(self, text: str) -> None:
        self.words = words_of(text)
        self.content = content(self.words)
        self.negated = _negated(self.words)
        self.opposing = _OPPOSING.intersection(self.words)
        self.chosen, self.over = _parts(self.words)
        self.about = _about(self.chosen)
        self.denied = _negated(self.chosen)


@lru_cache(8192)
def _sentence(text: str) -> _Sentence:
    return _Sentence(text)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a sentence, normalised."""
    key = re.sub(r"\bopt (in|out)\b", r"opt\1", value_key(text))
    return tuple(re.sub(r"\bnon (?=[a-z])", "non", key).split())


def content(words: tuple[str, ...]) -> frozenset[str]:
    """The words that say what a sentence is about, without their endings."""
    return frozenset(_stem(word) for word in words if word not in _STOP and word not in _NEGATIONS)


def _stem(word: str) -> str:
    """A word without the ending that a sentence gives it: logging, logged, logs are log."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            stem = word[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem.rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def _negated(words: Sequence[str]) -> bool:
    return sum(word in _NEGATIONS for word in words) % 2 == 1


# -- turned down


def _parts(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is chosen and what it is chosen over: `A over B`, `A instead of B`, `A rather than B`, `use A not B`."""
    for place, word in enumerate(words):
        following = words[place + 1 : place + 2]
        wide = (word, *following) in (("instead", "of"), ("rather", "than"))
        chosen = word == "over" or (word == "not" and words[0] in _CHOOSING)
        if 0 < place < len(words) - 1 - wide and (wide or chosen):
            rest = words[place + 1 + wide :]
            end = next((n for n, item in enumerate(rest) if item in _SCOPING or item == "because"), len(rest))
            tail = rest[end:] if end < len(rest) and rest[end] != "because" else ()
            return (*words[:place], *tail), rest[:end]
    return words, ()


def _turned_down(one: _Sentence, other: _Sentence, alternatives: tuple[str, ...], shared_file: bool) -> str:
    """The alternative of `one` that `other` is about, if their subjects meet."""
    told = content(other.chosen)
    if not told or other.denied:
        return ""
    own_down = content(other.over)
    for alternative in (*alternatives, " ".join(one.over)):
        words = content(words_of(alternative.split(": ")[0]))
        if not words or not words <= told or words <= content(one.chosen) or words <= own_down:
            continue
        rest = other.about - words
        if shared_file or not rest or (one.about & rest and _same_scope(one.chosen, other.chosen, words)):
            return f"'{alternative}' was turned down"
    return ""


def _about(words: tuple[str, ...]) -> frozenset[str]:
    """Content words but for the verb of choosing."""
    return content(tuple(word for word in words if word not in _CHOOSING))


def _same_scope(a: tuple[str, ...], b: tuple[str, ...], alternative: frozenset[str]) -> bool:
    """Whether what two sentences are limited to (`for session storage`) is the same, or one of them has no limit."""
    left, right = _limits(a), _limits(b) - alternative
    return left <= right or right <= left


def _limits(words: tuple[str, ...]) -> frozenset[str]:
    start = next((place for place, word in enumerate(words) if place and word in _SCOPING), len(words))
    return content(words[start:])


# -- opposite


def _denied(a: _Sentence, b: _Sentence, shared_file: bool) -> str:
    """The same words, one side denied."""
    if a.negated == b.negated or not a.content or not b.content:
        return ""
    same = a.content == b.content or (shared_file and _mostly(a.content, b.content))
    return "one says it, the other denies it" if same else ""


def _mostly(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether one holds the other and little more."""
    return (left <= right or right <= left) and 2 * len(left & right) >= len(left | right)


def _opposed(a: _Sentence, b: _Sentence, shared_file: bool) -> str:
    """A pair of opposites among words that are otherwise the same."""
    own_a, own_b = a.opposing - b.opposing, b.opposing - a.opposing
    if not own_a or not own_b:
        return ""
    for states, pairs in ((False, _VERBS), (True, _STATES)):
        for pair in pairs:
            for x, y in (pair, pair[::-1]):
                if x not in own_a or y not in own_b or (states and not (_said(a.words, x) and _said(b.words, y))):
                    continue
                left, right = _without(a.words, x), _without(b.words, y)
                if left == right or (shared_file and left and right and _mostly(left, right)):
                    return f"{x} against {y}"
    return ""


def _without(words: tuple[str, ...], word: str) -> frozenset[str]:
    """The content of a sentence without a word of it; if that leaves nothing, all its other words."""
    rest = tuple(item for item in words if item != word)
    return content(rest) or frozenset(rest)


def _said(words: tuple[str, ...], word: str) -> bool:
    """Whether a describing word is what the sentence says, not what it says something of."""
    place = words.index(word)
    return place > 0 and (place == len(words) - 1 or words[place - 1] in _BE or words[place - 1] in _CHOOSING)


# -- different


def _slot(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    """The same sentence but for one slot of up to four words, where that slot holds one value only."""
    shorter = min(len(a), len(b))
    if max(len(a), len(b)) - shorter >= _SLOT:
        return ""
    start = next((place for place in range(shorter) if a[place] != b[place]), shorter)
    end = next((n for n in range(shorter - start) if a[-1 - n] != b[-1 - n]), shorter - start)
    slot_a, slot_b = a[start : len(a) - end], b[start : len(b) - end]
    before, after = a[:start], a[len(a) - end :] if end else ()
    if not slot_a or not slot_b or max(len(slot_a), len(slot_b)) > _SLOT or not content((*before, *after)):
        return ""
    if content(slot_a) & content(slot_b) or not content(slot_a) or not content(slot_b):
        return ""
    if _numbers(slot_a, slot_b, before) or _single(slot_a, slot_b, before, after):
        return f"{' '.join(slot_a)} against {' '.join(slot_b)}"
    return ""


def _numbers(slot_a: Iterable[str], slot_b: Iterable[str], before: Sequence[str]) -> bool:
    """Two numbers for the same thing."""
    every = all(word[0].isdigit() or word in _NUMBERS for word in (*slot_a, *slot_b))
    return every and not (before and before[-1] in _NAMING)


def _single(slot_a: tuple[str, ...], slot_b: tuple[str, ...], before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether the place of the slot is one that a single value fills."""
    if not before or any(word in _SCOPING for word in (*slot_a, *slot_b)):
        return False
    if before[-1] in _CHOOSING:
        purpose = tuple(word for word in after if word not in ("a", "an", "the", "our"))
        # `Use X for Y`, `use X as the Y`; or `for Y use X`. Not `use X in Y`: that may hold many.
        return (purpose[:1] in (("for",), ("as",)) and bool(content(purpose))) or (not after and before[0] == "for")
    if before[-1] in ("is", "are", "be", "to"):
        return any(word in _SINGLE for word in before[-4:-1])
    if after or len(content(before)) < 2:
        return False
    return (before[0] in _PLACING and before[-1] in ("in", "on", "under")) or (
        before[0] in _WRITING and before[-1] == "in"
    )
