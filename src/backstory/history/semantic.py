"""Search by meaning, together with search by words: both rankings become one.

Optional throughout: without an embedder, without vectors or with those of another model there is a note that says
which, and the words alone decide. Importing this imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backstory.history.embedders.contract import Choice
from backstory.history.vectors import model_of, nearest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from backstory.history.embedders.contract import Embedder
    from backstory.history.embedders.provider import Settings

# Reciprocal rank fusion: Cormack, Clarke, Buettcher 2009, where 60 did best and little depends on it.
_RANK_OFFSET = 60
_DEPTH = 50
_MAX_QUERY_CHARS = 2_000

MEANING, WORDS = "meaning", "words"


class Hit(NamedTuple):
    """One text found: where it stands, its fused score, its similarity where meaning found it, and the ways there."""

    source: str
    ref: str
    score: float
    similarity: float | None
    ways: tuple[str, ...]


class Found(NamedTuple):
    """The hits, best first, and one sentence where meaning could not be asked ('' where it could)."""

    hits: list[Hit]
    note: str = ""


def choose(settings: Settings | None, environ: Mapping[str, str]) -> Choice:
    """The configured provider, else the local model, else the reason why there is neither."""
    if settings is not None:
        from backstory.history.embedders.provider import provider

        return provider(settings, environ)
    from backstory.history.embedders.local import local

    return local()


def search(
    db: DuckDBPyConnection,
    embedder: Embedder | None,
    query: str,
    limit: int,
    *,
    full_text: Sequence[tuple[str, str]] = (),
) -> Found:
    """The texts nearest to `query` by meaning, fused with `full_text`: (source, ref) of its hits, the best first.

    What is less similar than the floor of the vectors was not found by meaning. So a query that is about nothing here
    finds nothing, unless words do.
    """
    by_meaning, note = _by_meaning(db, embedder, query.strip()[:_MAX_QUERY_CHARS], limit)
    return Found(_fused(by_meaning, full_text)[: max(limit, 0)], note)


def _by_meaning(
    db: DuckDBPyConnection, embedder: Embedder | None, query: str, limit: int
) -> tuple[list[tuple[str, str, float]], str]:
    model = model_of(db)
    if embedder is None:
        return [], "Found by words only: there is no embedding model."
    if model is None:
        return [], "Found by words only: the history has no vectors yet. Run `backstory history refresh`."
    if model.model != embedder.model_id:
        return [], (
            f"Found by words only: the vectors are of {model.model}, not of {embedder.model_id}."
            " Run `backstory history refresh`."
        )
    if not query:
        return [], ""
    [vector] = embedder.embed_queries([query])
    if len(vector) != model.dimensions:
        return [], (
            f"Found by words only: {embedder.model_id} now makes vectors of {len(vector)} numbers instead of"
            f" {model.dimensions}. Run `backstory history refresh --rebuild`."
        )
    return [hit for hit in nearest(db, vector, max(limit, _DEPTH)) if hit[2] >= model.floor], ""


def _fused(by_meaning: Sequence[tuple[str, str, float]], by_words: Sequence[tuple[str, str]]) -> list[Hit]:
    scores: dict[tuple[str, str], float] = {}
    ways: dict[tuple[str, str], list[str]] = {}
    similarity = {(source, ref): value for source, ref, value in by_meaning}
    for way, ranking in ((MEANING, list(similarity)), (WORDS, list(dict.fromkeys(by_words)))):
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (_RANK_OFFSET + rank)
            ways.setdefault(key, []).append(way)
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return [Hit(*key, scores[key], similarity.get(key), tuple(ways[key])) for key in ordered]
