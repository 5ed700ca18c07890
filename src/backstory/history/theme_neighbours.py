"""The nearest neighbours of every vector, in the standard library: for up to some thousand vectors."""

from __future__ import annotations

from backstory.history.theme_vectors import ONE, UNIT, Space, similarity

# (similarity, vector), the nearest first; of equals the one with the lower number.
Near = list[tuple[int, int]]


def neighbours(space: Space, floor: int, most: int) -> list[Near]:
    """At most `most` neighbours of each vector, those at least `floor` similar."""
    holders: list[list[int]] = [[] for _ in space.terms]
    squares = [weight * weight for weight in space.weights]
    lengths = [vector.length for vector in space.vectors]
    near: list[Near] = [[] for _ in space.vectors]
    shortest = min(lengths, default=0)
    for place, vector in enumerate(space.vectors):
        products = [0] * place
        for term in vector.terms:
            square = squares[term]
            for other in holders[term]:
                products[other] += square
            holders[term].append(place)
        least = least_product(floor, vector.length, shortest)
        for other, product in enumerate(products):
            if product >= least:
                alike = similarity(product, vector.length, lengths[other])
                if alike >= floor:
                    _keep(near[place], alike, other, most)
                    _keep(near[other], alike, place, most)
    return [nearest(found, most) for found in near]


def least_product(floor: int, one: int, other: int) -> int:
    """A product that vectors of these lengths, or longer ones, need to be `floor` similar; a little less, to be safe."""
    return floor * one * other // (ONE * UNIT) - 1


def _keep(found: Near, alike: int, other: int, most: int) -> None:
    found.append((alike, other))
    if len(found) > 16 * most:
        found[:] = nearest(found, most)


def nearest(found: Near, most: int) -> Near:
    """The first `most` in order."""
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))[:most]
