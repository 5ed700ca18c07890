"""A snippet shows the place with most of what was asked for, however long the text is."""

import gc
import sqlite3
import time
import warnings
from collections.abc import Iterator

import pytest

from backstory.index.documents import DOCUMENT_TABLES, Row, append_many
from backstory.index.search import search
from backstory.index.snippets import WINDOW, Snippets, window


@pytest.fixture
def snippets() -> Iterator[Snippets]:
    made = Snippets()
    yield made
    made.close()


def test_the_place_with_most_words_is_shown_from_anywhere_in_a_long_text(snippets: Snippets) -> None:
    body = f"timeout at first. {'word ' * 5_000} here the retry of a timeout is bounded. {'word ' * 5_000} retry"
    (line,) = snippets.of({1: (body, "title", "")}, '"retry" OR "timeout"', ["retry", "timeout"]).values()
    assert "the [retry] of a [timeout] is" in line
    assert line.startswith("…")
    assert line.endswith("…")


def test_inflected_words_lead_to_the_place_too(snippets: Snippets) -> None:
    body = f"{'word ' * 5_000} it was retrying connections {'word ' * 5_000}"
    (line,) = snippets.of({1: (body, "", "")}, '"retries" OR "connected"', ["retries", "connected"]).values()
    assert "[retrying] [connections]" in line


def test_a_short_text_is_not_cut_and_a_long_one_at_white_space() -> None:
    assert window("short text", ["text"]) == "short text"
    text = "".join(f"word{i} " for i in range(3_000)) + "needle " + "end " * 2_000
    piece = window(text, ["needle"])
    assert len(piece) <= WINDOW + 2
    assert "needle" in piece
    assert piece.strip("…").split()[0] in text.split()
    assert window(text, []).startswith("word0 ")
    assert len(window("数" * 9_000, ["据"])) <= WINDOW + 2, "without white space too"


def test_body_comes_before_title_and_title_before_paths(snippets: Snippets) -> None:
    texts = {1: ("a match", "match", "match"), 2: ("", "the match", "match"), 3: ("x", "y", "src/match.py")}
    assert snippets.of(texts, '"match"', ["match"]) == {1: "a [match]", 2: "the [match]", 3: "src/[match].py"}


def test_what_the_tokeniser_does_not_see_is_marked_by_its_letters(snippets: Snippets) -> None:
    texts = {1: ("连接数据库失败", "", ""), 2: ("nothing of it", "title", "")}
    assert snippets.of(texts, '"数据" OR "据库"', ["数据", "据库"]) == {1: "连接[数据库]失败", 2: "nothing of it"}


def test_one_use_leaves_nothing_for_the_next(snippets: Snippets) -> None:
    assert snippets.of({1: ("a match", "", "")}, '"match"', ["match"]) == {1: "a [match]"}
    assert snippets.of({2: ("other", "", "")}, '"match"', ["match"]) == {2: "other"}
    assert snippets.of({}, '"match"', ["match"]) == {}


def test_long_texts_do_not_make_a_search_long() -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    for statement in DOCUMENT_TABLES:
        db.execute(statement)
    body = " ".join(f"{'timeout' if i % 7 == 0 else 'retry' if i % 11 == 0 else f'word{i}'}" for i in range(60_000))
    rows: list[Row] = [("entry", f"E{i}", "note", 0, "long", body, ()) for i in range(10)]
    append_many(db, [*rows, *(("entry", f"F{i}", "note", 0, f"filler {i}", "", ()) for i in range(200))])
    started = time.process_time()
    found = search(db, "timeout retry")
    took = time.process_time() - started
    assert len(found) == 10
    assert all("[timeout]" in hit.snippet for hit in found)
    assert took < 5, "snippets from the whole texts took 16 s"
    db.close()


def test_a_search_leaves_no_database_open() -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    for statement in DOCUMENT_TABLES:
        db.execute(statement)
    append_many(db, [("entry", "E", "note", 0, "timeout", "", ())])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert search(db, "timeout")
        gc.collect()
    db.close()
