"""The nearest neighbours of many texts with scipy, from the extra `themes`: the same answer as the standard library's.

Weights are whole numbers below 2**53 in every sum, so that floats hold them exactly and no order of adding matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from backstory.history.theme_nearest import Near, Vector, cosine, squared

# Rows that are multiplied at once: their products with all others are held in memory.
_BLOCK = 500


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("scipy") is not None and find_spec("numpy") is not None


def nearest(vectors: Sequence[Vector], count: int, threshold: float) -> Near:
    """As `theme_nearest.nearest`."""
    import numpy as np
    from scipy import sparse

    numbers: dict[str, int] = {}
    columns, weights, starts = [], [], [0]
    for vector in vectors:
        for term, weight in vector.items():
            columns.append(numbers.setdefault(term, len(numbers)))
            weights.append(float(weight))
        starts.append(len(columns))
    matrix = sparse.csr_matrix((np.array(weights), columns, starts), shape=(len(vectors), len(numbers) or 1))
    other_side = matrix.T.tocsr()
    lengths = [squared(vector) for vector in vectors]
    roughly = np.sqrt(np.array(lengths, dtype=float))
    found: Near = []
    for first in range(0, len(vectors), _BLOCK):
        block = (matrix[first : first + _BLOCK] @ other_side).tocsr()
        for row in range(block.shape[0]):
            place = first + row
            low, high = block.indptr[row], block.indptr[row + 1]
            others, products = block.indices[low:high], block.data[low:high]
            with np.errstate(divide="ignore", invalid="ignore"):
                near = products / (roughly[place] * roughly[others]) >= threshold - 1e-6
            exact = [
                (int(other), cosine(int(product), lengths[place], lengths[other]))
                for other, product in zip(others[near].tolist(), products[near].tolist(), strict=True)
                if other != place
            ]
            close = sorted((pair for pair in exact if pair[1] >= threshold), key=lambda pair: (-pair[1], pair[0]))
            found.append(close[:count])
    return found
