"""Vectors that belong together: connected components of mutual nearest neighbours, with a guard against chains.

Single linkage above a threshold chains: A is like B, B like C, and soon one group holds a quarter of 50,000 texts.
Mutual neighbours alone chain too (half of 10,000 commit messages, in triangles even). So the links are taken from the
strongest down, and one that would join two groups counts only where their members are alike on average.
"""

from __future__ import annotations

from collections.abc import Sequence

from backstory.history.theme_neighbours import Near
from backstory.history.theme_vectors import LENGTH_BITS, ONE, Space, Vector

# Neighbours of a vector that can be linked to it, and how similar they must be.
NEIGHBOURS = 10
SIMILAR = ONE * 15 // 100
# The least average similarity between the members of two groups that become one.
AVERAGE_PERCENT = 14
# The length of a vector where vectors are added up.
SCALE = 1 << 20


def groups(space: Space, near: Sequence[Near]) -> list[list[int]]:
    """The vectors of each group, in order; a vector without a like one is a group by itself."""
    forest = _Forest(space)
    for _, one, other in sorted(_links(near)):
        forest.join(one, other)
    found: dict[int, list[int]] = {}
    for place in range(len(space.vectors)):
        found.setdefault(forest.root(place), []).append(place)
    return list(found.values())


def _links(near: Sequence[Near]) -> list[tuple[int, int, int]]:
    """Mutual neighbours, so that the strongest sort first."""
    others = [{other for _, other in found} for found in near]
    return [
        (-similarity, one, other)
        for one, found in enumerate(near)
        for similarity, other in found
        if one < other and one in others[other]
    ]


def weighted(vector: Vector, weights: Sequence[int]) -> dict[int, int]:
    """The weight of each term in a vector that is `SCALE` long."""
    return {term: (weights[term] * SCALE << LENGTH_BITS) // vector.length for term in vector.terms}


class _Forest:
    """Groups that grow together. Each keeps the sum of its members' vectors."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._above = list(range(len(space.vectors)))
        self._size = [len(vector.texts) for vector in space.vectors]
        self._sums: dict[int, dict[int, int]] = {}

    def root(self, place: int) -> int:
        """The vector that stands for the group."""
        while self._above[place] != place:
            self._above[place] = self._above[self._above[place]]
            place = self._above[place]
        return place

    def join(self, one: int, other: int) -> None:
        """Make one group of two, unless their members are too different on average."""
        large, small = self.root(one), self.root(other)
        if large == small:
            return
        sums, added = self._sum(large), self._sum(small)
        if len(sums) < len(added):
            large, small, sums, added = small, large, added, sums
        product = sum(weight * sums[term] for term, weight in added.items() if term in sums)
        if product * 100 < AVERAGE_PERCENT * SCALE * SCALE * self._size[large] * self._size[small]:
            return
        for term, weight in added.items():
            sums[term] = sums.get(term, 0) + weight
        self._sums[large] = sums
        self._sums.pop(small, None)
        self._size[large] += self._size[small]
        self._above[small] = large

    def _sum(self, root: int) -> dict[int, int]:
        known = self._sums.get(root)
        if known is None:
            size = self._size[root]
            vector = weighted(self._space.vectors[root], self._space.weights)
            known = {term: weight * size for term, weight in vector.items()}
        return known
