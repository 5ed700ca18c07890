"""The nearest neighbours of every vector, with the extra `themes`: the same as without it, for tens of thousands.

All products are of whole numbers in 64 bits, so nothing depends on the order in which a library adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from backstory.history.theme_neighbours import Near
from backstory.history.theme_vectors import Vector

# Rows of one product: a block holds up to so many times the number of vectors, at 12 bytes each.
_BLOCK = 256


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("scipy") is not None


def neighbours(vectors: Sequence[Vector], terms: int, floor: int, most: int) -> list[Near]:
    """As `theme_neighbours.neighbours`."""
    import numpy
    from scipy.sparse import csr_array

    if not vectors:
        return []
    lengths = numpy.fromiter((len(vector.terms) for vector in vectors), numpy.int64, len(vectors))
    starts = numpy.concatenate((numpy.zeros(1, numpy.int64), numpy.cumsum(lengths)))
    total = int(starts[-1])
    columns = numpy.fromiter((term for vector in vectors for term in vector.terms), numpy.int32, total)
    weights = numpy.fromiter((weight for vector in vectors for weight in vector.weights), numpy.int64, total)
    matrix = csr_array((weights, columns, starts), shape=(len(vectors), terms))
    turned = matrix.T.tocsr()
    near: list[Near] = []
    for start in range(0, len(vectors), _BLOCK):
        product = matrix[start : start + _BLOCK] @ turned
        rows = numpy.repeat(numpy.arange(start, start + product.shape[0]), numpy.diff(product.indptr))
        kept = (product.data >= floor) & (product.indices != rows)
        values, others, rows = product.data[kept], product.indices[kept], rows[kept]
        order = numpy.lexsort((others, -values, rows))
        ends = numpy.searchsorted(rows[order], numpy.arange(start, start + product.shape[0] + 1))
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            first = order[begin : min(end, begin + most)]
            near.append(list(zip(values[first].tolist(), others[first].tolist(), strict=True)))
    return near
