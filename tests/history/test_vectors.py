"""The vectors of a history: only what changed is embedded, and an interruption loses one batch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from backstory.errors import BackstoryError
from backstory.history import build, store
from backstory.history.embedders.keeping import Kept
from backstory.history.vectors import Made, Model, embed_missing, forget, missing, model_of, nearest
from tests.history.small_embedder import SmallEmbedder

DOCUMENTS = [
    ("ticket", "one", "Login is slow"),
    ("ticket", "two", "The disk is full at night"),
    ("entry", "e1", "Crash in the cache"),
    ("entry", "e2", "Money is counted in cents"),
    ("pr", "7", "A test for the crash"),
]
ROWS = "SELECT source, ref, model, text_hash, embedding FROM vectors ORDER BY ALL"


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    yield connection
    connection.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with Kept(str(tmp_path / "history")) as opened:
        yield opened


def rows(db: duckdb.DuckDBPyConnection) -> list[Any]:
    return db.execute(ROWS).fetchall()


def test_every_text_gets_a_vector_and_the_model_is_kept_beside_it(db: duckdb.DuckDBPyConnection) -> None:
    embedder = SmallEmbedder()
    assert model_of(db) is None
    assert embed_missing(db, embedder, DOCUMENTS) == Made(5, 5, 0, 0)
    assert [row[:3] for row in rows(db)] == sorted((source, ref, "small/1") for source, ref, _ in DOCUMENTS)
    assert rows(db)[0][4] == pytest.approx(list(embedder.vector("Crash in the cache")))
    assert model_of(db) == Model("small/1", 8, 0.3, 5)


def test_only_what_is_new_or_changed_is_embedded_and_what_is_gone_is_dropped(db: duckdb.DuckDBPyConnection) -> None:
    embedder = SmallEmbedder()
    embed_missing(db, embedder, DOCUMENTS)
    embedder.asked.clear()
    assert embed_missing(db, embedder, DOCUMENTS) == Made(5, 0, 0, 0) and embedder.asked == []

    changed = [("ticket", "one", "Login is slow at night"), *DOCUMENTS[2:], ("pr", "8", "Money and disk")]
    assert missing(db, embedder, changed) == ["Login is slow at night", "Money and disk"]
    assert embed_missing(db, embedder, changed) == Made(5, 2, 0, 2)
    assert embedder.asked == ["Login is slow at night", "Money and disk"]
    fresh = duckdb.connect()
    embed_missing(fresh, SmallEmbedder(), reversed(changed))
    assert rows(db) == rows(fresh) and model_of(db) == model_of(fresh)


def test_another_model_embeds_everything_anew(db: duckdb.DuckDBPyConnection, kept: Kept) -> None:
    embed_missing(db, SmallEmbedder(), DOCUMENTS, known=kept)
    other = SmallEmbedder("small/2")
    assert embed_missing(db, other, DOCUMENTS, known=kept) == Made(5, 5, 0, 0)
    assert {row[2] for row in rows(db)} == {"small/2"} and len(other.asked) == 5
    # The first model's vectors are still kept: changing back costs nothing.
    assert embed_missing(db, SmallEmbedder(fail_after=0), DOCUMENTS, known=kept) == Made(5, 0, 5, 0)


def test_an_interrupted_run_keeps_all_but_the_batch_that_failed(db: duckdb.DuckDBPyConnection, kept: Kept) -> None:
    with pytest.raises(ConnectionError):
        embed_missing(db, SmallEmbedder(fail_after=4), DOCUMENTS, known=kept)
    assert model_of(db) is None  # what half a run left is not taken for a whole one
    again = SmallEmbedder()
    assert missing(None, again, DOCUMENTS, known=kept) == ["A test for the crash"]
    fresh = duckdb.connect()
    assert embed_missing(fresh, again, DOCUMENTS, known=kept) == Made(5, 1, 4, 0)
    assert again.asked == ["A test for the crash"]
    embed_missing(db, SmallEmbedder(), DOCUMENTS, known=kept)
    assert rows(db) == rows(fresh)


def test_a_text_that_stands_in_two_places_is_embedded_once(db: duckdb.DuckDBPyConnection) -> None:
    embedder = SmallEmbedder()
    embed_missing(db, embedder, [("pr", "1", "Slow login"), ("commit", "abc", "Slow login")])
    assert embedder.asked == ["Slow login"] and len(rows(db)) == 2


def test_a_long_text_is_found_by_any_of_its_passages(db: duckdb.DuckDBPyConnection) -> None:
    embedder = SmallEmbedder()
    long = "About money\n\n" + "\n\n".join([*["money " * 40] * 6, "the disk", *["test " * 50] * 6])
    embed_missing(db, embedder, [("ticket", "long", long), ("ticket", "two", "A disk at night in a test")])
    assert db.execute("SELECT count(*) > 2 FROM vectors WHERE ref = 'long'").fetchone() == (True,)
    found = nearest(db, embedder.vector("disk"), 5)
    assert [ref for _, ref, _ in found] == ["two", "long"]  # each text once
    assert {ref for _, ref, _ in nearest(db, embedder.vector("money"), 1)} == {"long"}


def test_texts_without_a_word_have_no_vector(db: duckdb.DuckDBPyConnection) -> None:
    embedder = SmallEmbedder()
    empty = [("ticket", "a", ""), ("ticket", "b", " \n\n--- ***\n")]
    assert embed_missing(db, embedder, empty) == Made(0, 0, 0, 0) and model_of(db) is None
    assert embed_missing(db, embedder, [*empty, ("ticket", "c", "Disk")]).passages == 1
    assert embed_missing(db, embedder, empty) == Made(0, 0, 0, 1)
    assert rows(db) == []


def test_progress_is_told_and_ends_with_all(db: duckdb.DuckDBPyConnection) -> None:
    told: list[tuple[int, int]] = []
    many = [("ticket", str(number), f"text {number}") for number in range(1_100)]
    embed_missing(db, SmallEmbedder(), many, progress=lambda done, all_: told.append((done, all_)))
    assert told == [(512, 1_100), (1_024, 1_100), (1_100, 1_100)]


def test_a_floor_that_is_not_known_is_what_pointless_questions_reach(db: duckdb.DuckDBPyConnection, kept: Kept) -> None:
    embed_missing(db, SmallEmbedder(floor=None), DOCUMENTS, known=kept)
    model = model_of(db)
    assert model is not None
    # A question without any known word is as near to each text as chance has it.
    noise = nearest(db, SmallEmbedder().vector("who wrote it"), 1)[0][2]
    assert model.floor == pytest.approx(noise)
    assert nearest(db, SmallEmbedder().vector("slow login"), 1)[0][2] > model.floor


def test_the_vectors_can_be_dropped(db: duckdb.DuckDBPyConnection) -> None:
    embed_missing(db, SmallEmbedder(), DOCUMENTS)
    forget(db)
    forget(db)
    assert model_of(db) is None
    assert embed_missing(db, SmallEmbedder(), DOCUMENTS).embedded == 5


def test_a_kept_vector_of_another_size_is_made_anew(db: duckdb.DuckDBPyConnection, kept: Kept) -> None:
    embedder = SmallEmbedder()
    embed_missing(db, embedder, DOCUMENTS[:1], known=kept)
    [text_hash] = [row[3] for row in rows(db)]
    kept.put("small/1", {text_hash: embedder.vector("x")[:3]})
    fresh = duckdb.connect()
    assert embed_missing(fresh, embedder, DOCUMENTS[:1], known=kept).embedded == 1
    assert rows(fresh) == rows(db)


def test_an_embedder_that_changes_its_size_half_way_is_refused(db: duckdb.DuckDBPyConnection) -> None:
    embedder = SmallEmbedder()
    embedder.dimensions = 0
    embedder.vector = lambda text: SmallEmbedder().vector(text)[: 4 + len(text) % 2]  # type: ignore[method-assign]
    with pytest.raises(BackstoryError, match="different numbers of dimensions"):
        embed_missing(db, embedder, DOCUMENTS)


def test_vectors_that_are_made_in_a_history_built_aside_are_read_with_sql(tmp_path: Path) -> None:
    folder = str(tmp_path / "history")
    building = store.Building(folder)
    with building as db:
        build.create(db)
        embed_missing(db, SmallEmbedder(), DOCUMENTS)
        building.publish({}, {})
    reader = store.open_reader(folder)
    try:
        sql = """
            SELECT b.ref FROM vectors AS a JOIN vectors AS b ON a.ref = 'e1' AND b.ref <> 'e1'
            ORDER BY array_cosine_similarity(a.embedding, b.embedding) DESC LIMIT 1
        """
        assert reader.execute(sql).fetchall() == [("7",)]
    finally:
        reader.close()
