"""A text cut into the passages that are embedded, each small enough that one thing is said in it.

A vector stands for all of its text, so one sentence in a long text is lost in it. Measured with the local model on the
50 pairs of `benchmarks/pairs.py`: each answer at a random place of a commit message of 1,200 to 4,000 characters, as a
paragraph of its own (or inside another), among 80 such messages and 800 short ones. Of 50 in the first five:

    whole text, cut at 256 pieces of words      2
    400 characters                             16 (13)
    280 characters                             21 (18)
    200 characters                             26 (20), and 13 passages a message

It costs the same time, which goes by length. The title in front of each passage did not help.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

MAX_CHARS = 200
# A text of 20,000 characters is embedded whole; of a longer one the rest is left out.
MAX_PASSAGES = 100

_PARAGRAPHS = re.compile(r"\n\s*\n")
_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？])|\n")  # noqa: RUF001


def passages(text: str) -> list[str]:
    """The passages of a text, in order, none twice; none for a text without words.

    The title stands with what follows it where that is short, else alone.
    """
    found: dict[str, None] = {}
    for passage in _packed(_pieces(text)):
        found[passage] = None
        if len(found) == MAX_PASSAGES:
            break
    return list(found)


def text_hash(passage: str) -> str:
    """What a vector is known by: 32 hexadecimal digits."""
    return hashlib.sha256(passage.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _pieces(text: str) -> Iterator[str]:
    """Paragraphs; the sentences of those that are too long; the parts of sentences that are too long."""
    title, _, rest = text.strip().partition("\n")
    for raw in (title, *_PARAGRAPHS.split(rest)):
        paragraph = " ".join(raw.split())
        if len(paragraph) <= MAX_CHARS:
            yield paragraph
            continue
        for sentence in _SENTENCES.split(paragraph):
            yield from _parts(sentence)


def _parts(sentence: str) -> Iterator[str]:
    """The sentence, cut between words where it is too long; a word that is too long is cut anywhere."""
    while len(sentence) > MAX_CHARS:
        end = sentence.rfind(" ", 1, MAX_CHARS + 1)
        end = end if end > 0 else MAX_CHARS
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    yield sentence


def _packed(pieces: Iterator[str]) -> Iterator[str]:
    """Pieces that follow each other put together as long as they fit; those without a word left out."""
    held = ""
    for piece in pieces:
        if not any(map(str.isalnum, piece)):
            continue
        if held and len(held) + 1 + len(piece) > MAX_CHARS:
            yield held
            held = ""
        held = f"{held}\n{piece}" if held else piece
    if held:
        yield held
