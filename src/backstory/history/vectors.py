"""The vectors of the history: the tables `vectors` and `vector_model`, made while the history is built aside.

Promises:

* Only what is new or changed is embedded, by the hash of each passage; what is gone is dropped; vectors of another
  model are dropped first. The content depends on documents and model only, not on the way that led there.
* Each batch is kept (`embedders/keeping.py`) before the next one is asked for: an interruption loses one batch.
* Nothing of it is there until the history is published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backstory.errors import BackstoryError
from backstory.history.embedders.passages import passages, text_hash
from backstory.history.schema import NUMBER, REAL, TEXT, Column, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from backstory.history.embedders.contract import Embedder, Vector
    from backstory.history.embedders.keeping import Kept

# source, ref, text. The first line of the text is its title.
Document = tuple[str, str, str]
Progress = Callable[[int, int], None]
_Key = tuple[str, str, str]

_AT_ONCE = 512
# Questions that no project's memory answers. A provider's model has a scale of its own, so its floor is what the best
# hits for these reach. One in five is answered above it: for the local model that gives 0.28 where 0.30 was measured
# (3,700 passages of commit messages), and 0.20 for 100 passages, where there is less to be taken for an answer.
_PROBES = tuple(
    """
    a cake with cherries and cream; the capital of Australia; how to calm a crying baby; who wrote War and Peace
    the deepest lake in the world; training for a first marathon; how volcanoes erupt; songs of the Beatles
    pruning roses in winter; the rules of chess; why the sky is blue; a hotel by the sea in Greece
    symptoms of the flu; the kings of France; how to iron a shirt; famous paintings of sunflowers
    feeding a horse; the taste of red wine; a bedtime story with dragons; the population of Brazil
    learning to swim as an adult; the planets of the solar system; a haircut for curly hair; soup with lentils
    """.replace("\n", ";").split(";")
)
_PROBE_TEXTS = tuple(text for probe in _PROBES if (text := probe.strip()))
_NOISE_QUANTILE = 0.8

MODEL_TABLE = Table(
    "vector_model",
    "what the vectors were made with: one row, none without vectors",
    (
        Column("model", TEXT, "as in vectors.model"),
        Column("dimensions", NUMBER, "numbers in a vector"),
        Column("floor", REAL, "a similarity below it is chance"),
        Column("passages", NUMBER, "rows in vectors"),
    ),
)


def vectors_table(dimensions: int) -> Table:
    """The table of the vectors for a model with so many dimensions."""
    return Table(
        "vectors",
        "one row a passage of a text, with its vector of unit length; only where semantic search is set up",
        (
            Column("source", TEXT, "ticket, run_record, entry, pull_request or commit"),
            Column("ref", TEXT, "what names it in its own table"),
            Column("model", TEXT, "what made the vector"),
            Column("text_hash", TEXT, "of the passage: a long text has several"),
            Column("embedding", f"FLOAT[{dimensions}]", "compare with array_cosine_similarity(a, b)"),
        ),
    )


class Made(NamedTuple):
    """What a refresh of the vectors did, in passages: all there are now, embedded now, taken from those kept, gone."""

    passages: int
    embedded: int
    reused: int
    dropped: int


class Model(NamedTuple):
    """The row of `vector_model`."""

    model: str
    dimensions: int
    floor: float
    passages: int


def model_of(db: DuckDBPyConnection) -> Model | None:
    """What made the vectors of this history; None when there are none."""
    if not _exists(db, MODEL_TABLE.name) or not _exists(db, "vectors"):
        return None
    row = db.execute("SELECT model, dimensions, floor, passages FROM vector_model").fetchone()
    return Model(str(row[0]), int(row[1]), float(row[2]), int(row[3])) if row else None


def missing(
    db: DuckDBPyConnection | None, embedder: Embedder, documents: Iterable[Document], *, known: Kept | None = None
) -> list[str]:
    """The passages that `embed_missing` would have to embed: what a cost is estimated from."""
    present = _present(db, embedder.model_id) if db is not None else set()
    texts = {key[2]: text for key, text in _wanted(documents).items() if key not in present}
    kept = known.get(embedder.model_id, texts) if known else {}
    return [text for text_hash, text in texts.items() if text_hash not in kept]


def embed_missing(
    db: DuckDBPyConnection,
    embedder: Embedder,
    documents: Iterable[Document],
    *,
    known: Kept | None = None,
    progress: Progress | None = None,
) -> Made:
    """Bring both tables up to date with `documents`. `progress` hears of passages done and to do.

    `BackstoryError` from the embedder passes through; what was made until then is in `known`.
    """
    wanted = _wanted(documents)
    present = _present(db, embedder.model_id)
    if not present:
        forget(db)
    gone = present - wanted.keys()
    _delete(db, gone)
    new = [(key, text) for key, text in wanted.items() if key not in present]
    embedded = 0
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        vectors, made = _vectors(embedder, {key[2]: text for key, text in some}, known)
        embedded += made
        _insert(db, embedder.model_id, [(key, vectors[key[2]]) for key, _ in some])
        if progress:
            progress(start + len(some), len(new))
    if known:
        known.prune(embedder.model_id, {key[2] for key in wanted} | {_probe_hash(text) for text in _PROBE_TEXTS})
    _describe(db, embedder, known, len(wanted))
    return Made(len(wanted), embedded, len(new) - embedded, len(gone))


def forget(db: DuckDBPyConnection) -> None:
    """Drop the vectors: there is no embedder any more, or another."""
    db.execute("DROP TABLE IF EXISTS vectors")
    db.execute(f"DROP TABLE IF EXISTS {MODEL_TABLE.name}")


def nearest(db: DuckDBPyConnection, vector: Vector[float], limit: int) -> list[tuple[str, str, float]]:
    """Source, ref and similarity of the texts with the passages nearest to `vector`, the nearest first.

    In SQL: 15 ms of CPU time for 10,000 passages and 80 for 100,000 (384 dimensions, DuckDB 2.0). A scan in numpy would
    take 6 for the latter, after 500 for bringing them there.
    """
    sql = f"""
        SELECT source, ref, max(array_inner_product(embedding, $1::FLOAT[{len(vector)}])) AS similarity
        FROM vectors GROUP BY source, ref ORDER BY similarity DESC, source, ref LIMIT $2
    """
    rows = db.execute(sql, [vector.tolist(), limit]).fetchall()
    return [(str(source), str(ref), float(similarity)) for source, ref, similarity in rows]


def _wanted(documents: Iterable[Document]) -> dict[_Key, str]:
    return {(source, ref, text_hash(passage)): passage for source, ref, text in documents for passage in passages(text)}


def _present(db: DuckDBPyConnection, model_id: str) -> set[_Key]:
    """The keys of the vectors that are there; none when another model made them."""
    model = model_of(db)
    if model is None or model.model != model_id:
        return set()
    return set(db.execute("SELECT source, ref, text_hash FROM vectors").fetchall())


def _vectors(embedder: Embedder, texts: dict[str, str], known: Kept | None) -> tuple[dict[str, Vector[float]], int]:
    """The vectors of some texts by hash, and how many of them had to be made."""
    found = known.get(embedder.model_id, texts) if known else {}
    if embedder.dimensions:
        found = {text_hash: vector for text_hash, vector in found.items() if len(vector) == embedder.dimensions}
    lacking = [(text_hash, text) for text_hash, text in texts.items() if text_hash not in found]
    for batch in _slices(lacking, embedder.batch):
        made = dict(
            zip((text_hash for text_hash, _ in batch), embedder.embed([text for _, text in batch]), strict=True)
        )
        if known:
            known.put(embedder.model_id, made)
        found |= made
    return found, len(lacking)


def _slices(items: Sequence[tuple[str, str]], size: int) -> Iterator[Sequence[tuple[str, str]]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _insert(db: DuckDBPyConnection, model_id: str, rows: Sequence[tuple[_Key, Vector[float]]]) -> None:
    dimensions = len(rows[0][1])
    if not _exists(db, "vectors"):
        db.execute(vectors_table(dimensions).ddl())
    if any(len(vector) != dimensions for _, vector in rows):
        raise BackstoryError(
            f"Vectors of {model_id} have different numbers of dimensions.",
            hint="Run `backstory history refresh --rebuild`.",
        )
    keys = [key for key, _ in rows]
    columns: list[object] = [[key[place] for key in keys] for place in range(3)]
    db.execute(
        "INSERT INTO vectors (source, ref, text_hash, model, embedding) SELECT unnest($1::VARCHAR[]),"
        f" unnest($2::VARCHAR[]), unnest($3::VARCHAR[]), $4, unnest($5)::FLOAT[{dimensions}]",
        [*columns, model_id, [vector.tolist() for _, vector in rows]],
    )


def _delete(db: DuckDBPyConnection, keys: set[_Key]) -> None:
    if keys:
        rows = sorted(keys)
        db.execute(
            "DELETE FROM vectors USING (SELECT unnest($1::VARCHAR[]) AS source, unnest($2::VARCHAR[]) AS ref,"
            " unnest($3::VARCHAR[]) AS text_hash) AS gone WHERE vectors.source = gone.source"
            " AND vectors.ref = gone.ref AND vectors.text_hash = gone.text_hash",
            [[row[place] for row in rows] for place in range(3)],
        )


def _describe(db: DuckDBPyConnection, embedder: Embedder, known: Kept | None, count: int) -> None:
    db.execute(f"DROP TABLE IF EXISTS {MODEL_TABLE.name}")
    if not _exists(db, "vectors"):
        return
    floor = embedder.floor if embedder.floor is not None else _noise(db, embedder, known)
    db.execute(MODEL_TABLE.ddl())
    db.execute(
        "INSERT INTO vector_model VALUES ($1, $2, $3, $4)", [embedder.model_id, embedder.dimensions, floor, count]
    )


def _noise(db: DuckDBPyConnection, embedder: Embedder, known: Kept | None) -> float:
    """The similarity that the best hit for a question without an answer reaches in one case of five."""
    kept = known.get(embedder.model_id, [_probe_hash(text) for text in _PROBE_TEXTS]) if known else {}
    if len(kept) < len(_PROBE_TEXTS):
        made = embedder.embed_queries(_PROBE_TEXTS)
        kept = {_probe_hash(text): vector for text, vector in zip(_PROBE_TEXTS, made, strict=True)}
        if known:
            known.put(embedder.model_id, kept)
    best = sorted(hits[0][2] if (hits := nearest(db, vector, 1)) else 0.0 for vector in kept.values())
    return best[int(_NOISE_QUANTILE * len(best))]


def _probe_hash(text: str) -> str:
    return text_hash(f"query\n{text}")


def _exists(db: DuckDBPyConnection, table: str) -> bool:
    found = db.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = $1", [table]).fetchone()
    return found is not None
