"""Texts as vectors of whole numbers, so that no machine, engine or number of threads rounds them differently.

A term counts once in a text, and for more the rarer it is (TF-IDF with binary TF). Measured on commit messages of six
projects with five planted themes of 5 to 50 texts, at 10,000 texts: counting how often a term stands in a text found
78 % of a theme, 61 % of what was found with it belonging there; counting it once 85 % and 80 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

# The length of every vector. A product of two is at most 2 ** 40: exact in 64 bits, in any order.
SCALE = 1 << 20
ONE = SCALE * SCALE

_BITS = 16
# What is rarer than one text in 127 weighs no more for it: otherwise the same two texts grow apart with the project.
_HEAVIEST = 7 << _BITS
# Terms of more texts than this say nothing of a theme, and cost as many products as all others together: their number
# is the square of the texts that share one.
_COMMON, _COMMON_SHARE = 1_000, 20
# A text counts by its heaviest terms, so that a long one costs no more than others do.
_MOST_TERMS = 48
# Fewer are no description: two texts share three words by chance.
LEAST_TERMS = 4


class Vector(NamedTuple):
    """Term numbers in ascending order, the weight of each, and the texts that it stands for."""

    terms: tuple[int, ...]
    weights: tuple[int, ...]
    texts: tuple[int, ...]


class Space(NamedTuple):
    """The vectors, by the first of their texts, and the terms that their numbers stand for."""

    vectors: list[Vector]
    terms: list[str]


def vectors(texts: Sequence[tuple[str, ...]]) -> Space:
    """A vector for each different set of terms that is large enough. The order of `texts` breaks ties later on."""
    found = Counter(term for text in texts for term in text)
    limit = max(_COMMON, len(texts) // _COMMON_SHARE)
    terms = sorted(term for term, count in found.items() if 1 < count <= limit)
    number = {term: place for place, term in enumerate(terms)}
    weights = [_rarity(len(texts), found[term]) for term in terms]
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(texts):
        alike.setdefault(text, []).append(place)
    made = []
    for text, places in alike.items():
        shared = [number[term] for term in text if term in number]
        if len(shared) >= LEAST_TERMS:
            single = min(sum(found[term] == 1 for term in text), len(shared))
            made.append(Vector(*_scaled(shared, weights, single), tuple(places)))
    return Space(made, terms)


def _scaled(shared: list[int], weights: list[int], single: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The heaviest terms with weights that make the vector `SCALE` long.

    Terms of no other text count in the length alone, and as if there were at most as many of them as of others: a
    text with many names of its own is no less about what the others are.
    """
    shared.sort(key=lambda term: (-weights[term], term))
    kept = sorted(shared[:_MOST_TERMS])
    square = sum(weights[term] ** 2 for term in kept) + single * _HEAVIEST**2
    length = isqrt(square << 2 * _BITS)
    return tuple(kept), tuple((weights[term] * SCALE << _BITS) // length for term in kept)


def _rarity(texts: int, found: int) -> int:
    return min(_HEAVIEST, log2(found + texts, found))


@lru_cache(maxsize=1 << 16)
def log2(above: int, below: int) -> int:
    """The logarithm to base 2 of a quotient of at least 1, in units of 2 ** -16, rounded down.

    By repeated squaring in whole numbers: the last bit of `math.log2` is up to the machine's library.
    """
    whole = (above // below).bit_length() - 1
    value = (above << 62) // (below << whole)
    result = whole
    for _ in range(_BITS):
        value = (value * value) >> 62
        bit = value >> 63
        value >>= bit
        result = result << 1 | bit
    return result
