"""The nearest neighbours of every vector, in the standard library: for up to some thousand vectors."""

from __future__ import annotations

from collections.abc import Sequence

from backstory.history.theme_vectors import Vector

# (similarity, vector), the nearest first; of equals the one with the lower number.
Near = list[tuple[int, int]]


def neighbours(vectors: Sequence[Vector], terms: int, floor: int, most: int) -> list[Near]:
    """At most `most` neighbours of each vector, those at least `floor` similar. `terms` is how many terms there are."""
    holders: list[list[tuple[int, int]]] = [[] for _ in range(terms)]
    near: list[Near] = [[] for _ in vectors]
    for place, vector in enumerate(vectors):
        products = [0] * place
        for term, weight in zip(vector.terms, vector.weights, strict=True):
            for other, other_weight in holders[term]:
                products[other] += weight * other_weight
            holders[term].append((place, weight))
        for other, product in enumerate(products):
            if product >= floor:
                near[place].append((product, other))
                near[other].append((product, place))
                if len(near[other]) > 8 * most:
                    near[other] = nearest(near[other], most)
    return [nearest(found, most) for found in near]


def nearest(found: Near, most: int) -> Near:
    """The first `most` in order."""
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))[:most]
