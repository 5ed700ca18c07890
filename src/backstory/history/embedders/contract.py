"""What every embedder promises, whatever it is made of."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple, Protocol

# 32-bit floats of unit length: as many bytes as DuckDB keeps, and no library needed to hold them.
Vector = array  # of type code "f"


class Embedder(Protocol):
    """Texts in, vectors of unit length out: the same text gives the same vector, beside whatever others it stands."""

    @property
    def model_id(self) -> str:
        """What made the vectors, kept beside each: vectors of different ids are never compared."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; 0 while a provider has not said it yet."""

    @property
    def batch(self) -> int:
        """How many texts one call of `embed` best takes."""

    @property
    def floor(self) -> float | None:
        """Below this similarity a hit is chance; None where that has to be found out with `embed`."""

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        """One vector a text, in their order. `BackstoryError` where that cannot be had."""

    def embed_queries(self, texts: Sequence[str]) -> list[Vector[float]]:
        """The vectors of questions, which some models mark in a way of their own."""


class Choice(NamedTuple):
    """The embedder there is, or None and one sentence that says why there is none and what would help."""

    embedder: Embedder | None
    note: str = ""
