"""Which texts are near each other: exact, in the standard library alone.

Weights are whole numbers, so that sums are exact in whatever order they are made; see `theme_scipy` for many texts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

Vector = dict[str, int]
Near = list[list[tuple[int, float]]]


def cosine(product: int, one: int, other: int) -> float:
    """The cosine from an inner product and two squared lengths, rounded so that engines agree."""
    return round(product / math.sqrt(one * other), 9)


def squared(vector: Vector) -> int:
    """The squared length."""
    return sum(weight * weight for weight in vector.values())


def nearest(vectors: Sequence[Vector], count: int, threshold: float) -> Near:
    """For each vector its nearest others, at most `count`, not below the threshold: (place, cosine), nearest first."""
    places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, vector in enumerate(vectors):
        for term, weight in vector.items():
            places[term].append((place, weight))
    lengths = [squared(vector) for vector in vectors]
    found: Near = []
    for place, vector in enumerate(vectors):
        products: defaultdict[int, int] = defaultdict(int)
        for term, weight in vector.items():
            for other, its in places[term]:
                products[other] += weight * its
        products.pop(place, None)
        near = [(other, cosine(product, lengths[place], lengths[other])) for other, product in products.items()]
        close = sorted((pair for pair in near if pair[1] >= threshold), key=lambda pair: (-pair[1], pair[0]))
        found.append(close[:count])
    return found
