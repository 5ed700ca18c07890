"""Whether a change is like one that failed: by the words of its subject, and by the lines of its patch. Light.

Both are counted over what is rare: a word that many failed changes share says nothing, and a line that many commits
added is not among those that are kept. Measured on seven repositories (`make bench`, foresight).
"""

from __future__ import annotations

# The core of `hashlib`, which would load every other hash with it.
from _blake2 import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

MOST_WORDS = 40
_LONGEST = 600
# A line shorter than this, its white space squeezed, is a brace or a keyword and proves nothing.
_SHORTEST_LINE = 8
_SHORT_ID = 7
_STOP = frozenset(
    """a about after all an and any are as at be because but by can do for from has have how if in into is it its no not
    of on or our should so than that the their then there these this to was we were what when where which will with
    would you your""".split()
)
# What a second attempt says of itself, and a revert of what it takes back.
_AGAIN = frozenset(
    """2nd 3rd again apply attempt back backed backout backs land landed out re reapplied reapplies reapply
    redo reintroduce reintroduced reintroduces reinstate reinstated reinstates reland relanded relanding
    relands restore restored restores resubmit retry revert reverted reverting reverts roll rollback rolled
    rolling second take third try undo undoes undone unrevert""".split()
)
_ENDINGS = ("ing", "ed", "es", "s")


def subject_words(text: str) -> tuple[str, ...]:
    """The words of a subject that tell it from others, each once: lower case, without endings, numbers of pull requests
    and words about trying again. Identifiers are split; scripts without spaces give pairs of characters."""
    found: dict[str, None] = {}
    before = ""
    for word in _split(text[:_LONGEST]):
        # Of "take 2" the number says no more than the word.
        counts = word.isdigit() and before in _AGAIN
        if (len(word) > 1 or word.isdigit()) and word not in _STOP and word not in _AGAIN and not counts:
            found[_stem(word)] = None
            if len(found) == MOST_WORDS:
                break
        before = word
    return tuple(found)


def coverage(asked: Iterable[str], known: Collection[str], rarity: Mapping[str, float]) -> float:
    """The part of the weight of the words `asked` that `known` has, 0 to 1; `rarity` weighs each word."""
    whole = shared = 0.0
    for word in asked:
        weight = rarity[word]
        whole += weight
        if word in known:
            shared += weight
    return shared / whole if whole else 0.0


def other_number(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two subjects name different versions, numbers or commits: `bump to 2.2.1` is not `bump to 2.2.0`."""
    first, second = set(filter(_is_number, one)), set(filter(_is_number, other))
    return bool(first and second) and first.isdisjoint(second)


def patch_share(shared: int, failed: int, new: int) -> float:
    """How much of a failed patch comes back, 0 to 1: held against both, and against the new one at half weight.

    `shared` are lines of both, `failed` and `new` the lines of each.
    """
    if not shared or not failed or not new:
        return 0.0
    return min(shared / failed, 2 * shared / new)


def line_hashes(added_lines: Iterable[str]) -> frozenset[int]:
    """Signed 64-bit hashes of the lines, white space squeezed; lines under 8 characters are left out."""
    squeezed = {" ".join(line.split()) for line in added_lines}
    return frozenset(text_hash(line) for line in squeezed if len(line) >= _SHORTEST_LINE)


def text_hash(line: str) -> int:
    """A signed 64-bit hash of a text, the same on every machine."""
    digest = blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _split(text: str) -> Iterable[str]:
    """Runs of letters and digits in lower case; one after `#` or `!` is a number of a pull request, and left out."""
    word, before, marked = "", "", False
    for letter in text + " ":
        # A version is one word: 2.2.1 is not 2.2.0.
        if letter.isalnum() or (letter == "." and before.isdigit() and word[:1].isdigit()):
            if letter > "\u2e7f":
                if before > "\u2e7f":
                    yield before + letter
            elif word and letter.isupper() and not before.isupper():
                yield word
                word = letter.lower()
            else:
                word += letter.lower()
        else:
            if word and not (marked and word.isdigit()):
                yield word.rstrip(".")
            word, marked = "", letter in "#!"
        before = letter


def _is_number(word: str) -> bool:
    return word.replace(".", "").isdigit() or (len(word) >= _SHORT_ID and not word.strip("0123456789abcdef"))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    # "cache" and "caching" are one word.
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
