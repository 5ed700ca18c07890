"""Predictions are held against what it took, where a record carries both sides."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from backstory.history import build
from backstory.history.grade import grade
from backstory.history.schema import TABLES

NAMES = [column.name for column in TABLES["run_records"].columns]


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    build.create(connection)
    yield connection
    connection.close()


def _runs(db: duckdb.DuckDBPyConnection, *records: dict[str, Any]) -> None:
    rows = []
    for number, record in enumerate(records):
        given = {"ticket_stem": f"t{number}", "path": f"t{number}.run.md", **record}
        rows.append(tuple(given.get(name) for name in NAMES))
    build.add(db, "run_records", rows)


def test_nothing_to_grade_is_an_answer(db: duckdb.DuckDBPyConnection) -> None:
    _runs(db, {"actual_files": 3}, {"predicted_minutes": 10.0})
    found = grade(db)
    assert found.records == 2
    assert found.both == {"files": 0, "minutes": 0, "complexity": 0}
    assert found.spreads == found.worst == found.complexity == ()


def test_records_with_both_sides_are_counted_and_spread(db: duckdb.DuckDBPyConnection) -> None:
    _runs(
        db,
        *({"predicted_files": 4, "actual_files": actual, "model_exact": "m"} for actual in (4, 8, 16, 5)),
        {"actual_files": 3},
    )
    found = grade(db)
    assert found.both["files"] == 4
    (whole,) = [spread for spread in found.spreads if spread.by == "all"]
    assert (whole.low, whole.median, whole.high, whole.near, whole.mean_off) == (1.188, 1.625, 2.5, 2, 4.25)
    (model,) = [spread for spread in found.spreads if spread.by == "model"]
    assert model.name == "m" and model.records == 4


def test_the_estimate_stands_in_for_predicted_minutes(db: duckdb.DuckDBPyConnection) -> None:
    _runs(
        db,
        {"wall_time_minutes": 60.0, "actual_minutes": 90.0},
        {"wall_time_minutes": 60.0, "predicted_minutes": 30.0, "actual_minutes": 30.0},
    )
    found = grade(db)
    assert found.both["minutes"] == 2
    assert [(miss.ticket, miss.predicted, miss.ratio) for miss in found.worst] == [("t0", 60.0, 1.5)]


def test_the_worst_misses_come_first_in_either_direction(db: duckdb.DuckDBPyConnection) -> None:
    _runs(
        db,
        {"predicted_files": 10, "actual_files": 11},
        {"predicted_files": 1, "actual_files": 99},
        {"predicted_files": 99, "actual_files": 3},
        {"predicted_files": 0, "actual_files": 2},
        {"predicted_files": 5, "actual_files": 5},
    )
    found = grade(db)
    assert [miss.ticket for miss in found.worst] == ["t1", "t2", "t3", "t0"]
    assert [miss.ratio for miss in found.worst] == [99.0, 0.03, None, 1.1]


def test_months_and_models_that_are_not_known_are_named_so(db: duckdb.DuckDBPyConnection) -> None:
    march = 1_772_500_000_000_000
    _runs(
        db,
        {"predicted_files": 1, "actual_files": 1, "ended_at": march},
        {"predicted_files": 1, "actual_files": 2, "model_exact": ""},
    )
    names = {(spread.by, spread.name) for spread in grade(db).spreads}
    assert {("month", "2026-03"), ("month", "(no date)"), ("model", "(no model)")} <= names


def test_complexity_is_compared_word_by_word(db: duckdb.DuckDBPyConnection) -> None:
    _runs(
        db,
        {"predicted_complexity": "Small", "complexity": "small "},
        {"predicted_complexity": "small", "complexity": "large"},
        {"predicted_complexity": "small", "complexity": "large"},
        {"predicted_complexity": "", "complexity": "large"},
    )
    found = grade(db)
    assert [(one.predicted, one.actual, one.records) for one in found.complexity] == [
        ("small", "large", 2),
        ("small", "small", 1),
    ]
    assert found.both["complexity"] == 3


def test_a_negative_figure_counts_for_nothing(db: duckdb.DuckDBPyConnection) -> None:
    _runs(db, {"predicted_files": -1, "actual_files": 3}, {"predicted_files": 2, "actual_files": 3})
    assert grade(db).both["files"] == 1
