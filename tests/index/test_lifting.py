"""What touches the files of the present work comes first, and so does what is recent; neither hides a better match."""

import sqlite3
from collections.abc import Iterator, Sequence

import pytest

from backstory.index.documents import DOCUMENT_TABLES, Row, append_many
from backstory.index.search import search

DAY = 86_400_000_000
NOW = 5_000 * DAY


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in DOCUMENT_TABLES:
        connection.execute(statement)
    yield connection
    connection.close()


def commit(ref: str, title: str, *paths: str, days_ago: int = 1_000, body: str = "") -> Row:
    return ("commit", ref, "commit", NOW - days_ago * DAY, title, body, paths)


def found(db: sqlite3.Connection, text: str, paths: Sequence[str] = (), now: int | None = NOW) -> list[str]:
    return [hit.ref for hit in search(db, text, boost_paths=paths, now=now)]


def test_a_rare_file_in_common_tells_more_than_one_that_everything_touches(db: sqlite3.Connection) -> None:
    append_many(db, [commit(f"f{i:03}", f"other thing {i}", "CHANGES") for i in range(200)])
    append_many(db, [commit("a", "mend the timeout", "CHANGES"), commit("b", "mend the timeout", "lib/rare.c")])
    assert found(db, "timeout") == ["a", "b"], "equal, so by ref"
    assert found(db, "timeout", ("CHANGES", "lib/rare.c")) == ["b", "a"]


def test_more_of_the_files_in_common_is_worth_more_and_a_folder_less_than_a_file(db: sqlite3.Connection) -> None:
    append_many(
        db,
        [
            commit("a", "mend the timeout", "doc/x.md"),
            commit("b", "mend the timeout", "lib/other.c"),
            commit("c", "mend the timeout", "lib/url.c"),
            commit("d", "mend the timeout", "lib/url.c", "lib/url.h"),
        ],
    )
    assert found(db, "timeout", ("lib/url.c", "lib/url.h")) == ["d", "c", "b", "a"]
    assert found(db, "timeout") == ["a", "b", "c", "d"]


def test_a_file_that_no_document_has_still_lifts_its_folder(db: sqlite3.Connection) -> None:
    append_many(db, [commit("a", "mend the timeout", "doc/x.md"), commit("b", "mend the timeout", "lib/old.c")])
    assert found(db, "timeout", ("lib/new.c",)) == ["b", "a"]
    assert found(db, "timeout", ("new.c",)) == ["a", "b"]


def test_recency_counts_for_more_when_the_question_comes_from_work_on_files(db: sqlite3.Connection) -> None:
    append_many(db, [commit(f"f{i}", f"something else {i}") for i in range(40)])
    append_many(
        db,
        [
            commit("better", "timeout of the connection", days_ago=900),
            commit("recent", "connection", days_ago=1, body=f"a timeout {'word ' * 30}"),
        ],
    )
    assert found(db, "timeout connection") == ["better", "recent"]
    assert found(db, "timeout connection", ("lib/url.c",)) == ["recent", "better"]
    assert found(db, "timeout connection", ("lib/url.c",), now=None) == ["better", "recent"]


def test_a_document_of_tomorrow_is_as_recent_as_one_of_today(db: sqlite3.Connection) -> None:
    append_many(db, [commit("b", "mend the timeout", days_ago=0), commit("a", "mend the timeout", days_ago=-500)])
    one, other = search(db, "timeout", now=NOW)
    assert (one.ref, other.ref) == ("a", "b")
    assert one.score == other.score


def test_a_document_with_the_files_is_found_by_less_of_the_words(db: sqlite3.Connection) -> None:
    append_many(db, [commit(f"f{i:03}", f"filler number {i} of many") for i in range(300)])
    append_many(db, [commit("it", "alpha", "lib/url.c")])
    asked = "alpha bravo charlie delta echo"
    assert found(db, asked) == []
    assert found(db, asked, ("lib/other.c",)) == []
    assert found(db, asked, ("lib/url.c",)) == ["it"]
    assert found(db, "bravo charlie delta echo", ("lib/url.c",)) == [], "never by the files alone"


def test_a_file_in_common_is_seen_beyond_the_best_matches(db: sqlite3.Connection) -> None:
    append_many(db, [commit(f"f{i:03}", "timeout timeout") for i in range(600)])
    append_many(db, [commit("z", "timeout", "lib/url.c", body="word word")])
    assert "z" not in found(db, "timeout")
    assert found(db, "timeout", ("lib/url.c",))[0] == "z"


def test_files_count_once_and_any_number_of_them_is_taken(db: sqlite3.Connection) -> None:
    append_many(db, [commit("a", "mend the timeout", "lib/url.c")])
    once = search(db, "timeout", boost_paths=("lib/url.c",))
    assert search(db, "timeout", boost_paths=("lib/url.c",) * 5_000) == once
    assert search(db, "timeout", boost_paths=[f"p{i}" for i in range(50_000)])[0].ref == "a"


def test_of_what_fits_alike_the_newer_is_first_at_whatever_moment_one_asks(db: sqlite3.Connection) -> None:
    """Recorded a millisecond apart, as an import or an agent does: the order does not turn with the clock."""
    rows = [commit(f"c{place}", "mend the timeout", days_ago=0) for place in range(9)]
    append_many(db, [(*row[:3], NOW + place * 1_000, *row[4:]) for place, row in enumerate(rows)])
    newest_first = [f"c{place}" for place in reversed(range(9))]
    for moment in range(0, 400_000_000, 7_654_321):
        assert found(db, "timeout", ("lib/url.c",), now=NOW + 1_000_000 + moment) == newest_first
    assert found(db, "timeout", now=None) == list(reversed(newest_first)), "without a clock by ref"
