"""The nearest neighbours of every vector, with the extra `themes`: the same as without it, for tens of thousands.

Products are of whole numbers, so nothing depends on the order in which a library adds them up.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from backstory.history.theme_neighbours import Near, least_product
from backstory.history.theme_vectors import ONE, UNIT, Space

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Rows of one product: a block holds up to so many times the number of vectors, at 8 bytes each.
_BLOCK = 256


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("scipy") is not None


def neighbours(space: Space, floor: int, most: int) -> list[Near]:
    """As `theme_neighbours.neighbours`."""
    import numpy

    if not space.vectors:
        return []
    squares, ones = _matrices(space)
    lengths = numpy.array([vector.length for vector in space.vectors], numpy.int64)
    least = numpy.array(
        [least_product(floor, vector.length, int(lengths.min())) for vector in space.vectors], numpy.int64
    )
    near: list[Near] = []
    for start in range(0, len(lengths), _BLOCK):
        rows, others, products = _candidates(squares[start : start + _BLOCK] @ ones, least, start)
        # The steps of `theme_vectors.similarity`.
        alike = (products * UNIT / (lengths[rows] * lengths[others]) * ONE).astype(numpy.int64)
        kept = (alike >= floor) & (others != rows)
        rows, others, alike = rows[kept], others[kept], alike[kept]
        order = numpy.lexsort((others, -alike, rows))
        ends = numpy.searchsorted(rows[order], numpy.arange(start, min(start + _BLOCK, len(lengths)) + 1))
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            first = order[begin : min(end, begin + most)]
            near.append(list(zip(alike[first].tolist(), others[first].tolist(), strict=True)))
    return near


def _matrices(space: Space) -> tuple[csr_array, csr_array]:
    """The squared weight of each term of each vector, and, turned over, a one for each."""
    import numpy
    from scipy.sparse import csr_array

    shape = (len(space.vectors), len(space.terms))
    lengths = numpy.array([len(vector.terms) for vector in space.vectors], numpy.int64)
    starts = numpy.concatenate((numpy.zeros(1, numpy.int64), numpy.cumsum(lengths))).astype(numpy.int32)
    terms = numpy.fromiter((term for vector in space.vectors for term in vector.terms), numpy.int32, int(starts[-1]))
    weights = numpy.array(space.weights, numpy.int32)
    squares = csr_array((weights[terms] * weights[terms], terms, starts), shape=shape)
    ones = csr_array((numpy.ones(len(terms), numpy.int32), terms, starts), shape=shape).T.tocsr()
    return squares, ones


def _candidates(product: csr_array, least: Any, start: int) -> tuple[Any, Any, Any]:
    """Rows, columns and products of what could be similar enough; the exact look at it is dear."""
    import numpy

    counts = numpy.diff(product.indptr)
    large = numpy.flatnonzero(product.data >= numpy.repeat(least[start : start + len(counts)], counts))
    rows = numpy.searchsorted(product.indptr, large, side="right") - 1 + start
    return rows, product.indices[large].astype(numpy.int64), product.data[large].astype(numpy.int64)
