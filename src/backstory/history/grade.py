"""Predicted against actual, from the run records: how far off, how widely spread, and the worst misses.

A measure counts where a record carries both sides. Of minutes the prediction is `predicted_minutes`, else what
`wall_time_estimate` means. A ratio is actual divided by predicted: 1 is a hit, 2 took twice as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEASURES = ("files", "minutes")
WORST = 10
# A prediction within a quarter of what it was counts as a hit.
NEAR = 0.25
NO_MODEL, NO_MONTH = "(no model)", "(no date)"

# One row for each record and measure that carries both sides; of complexity the words are compared.
_PAIRS = f"""
    WITH runs AS (
        SELECT ticket_stem, path, coalesce(nullif(model_exact, ''), '{NO_MODEL}') AS model,
            coalesce(strftime(coalesce(ended_at, started_at), '%Y-%m'), '{NO_MONTH}') AS month,
            predicted_files::DOUBLE AS files_before, actual_files::DOUBLE AS files_after,
            coalesce(predicted_minutes, wall_time_minutes) AS minutes_before, actual_minutes AS minutes_after,
            lower(trim(predicted_complexity)) AS complexity_before, lower(trim(complexity)) AS complexity_after
        FROM run_records),
    pairs AS (
        SELECT ticket_stem, path, model, month, 'files' AS measure, files_before AS predicted, files_after AS actual
        FROM runs WHERE files_before >= 0 AND files_after >= 0
        UNION ALL
        SELECT ticket_stem, path, model, month, 'minutes', minutes_before, minutes_after
        FROM runs WHERE minutes_before >= 0 AND minutes_after >= 0)
"""


class Miss(msgspec.Struct, frozen=True):
    """One record and measure. `ratio` is None where nothing was predicted."""

    ticket: str
    path: str
    model: str
    month: str
    measure: str
    predicted: float
    actual: float
    ratio: float | None


class Spread(msgspec.Struct, frozen=True):
    """The records of one ticket, model or month (`name`), or of all: ratios at the quartiles, hits within a quarter."""

    by: str
    name: str
    measure: str
    records: int
    low: float | None
    median: float | None
    high: float | None
    near: int
    mean_off: float


class Words(msgspec.Struct, frozen=True):
    """How often a predicted complexity turned out as which one."""

    predicted: str
    actual: str
    records: int


class Grade(msgspec.Struct, frozen=True):
    """The whole answer. `records` are all run records, `both` those that carry both sides, by measure."""

    records: int
    both: dict[str, int]
    spreads: tuple[Spread, ...]
    worst: tuple[Miss, ...]
    complexity: tuple[Words, ...]


def grade(db: DuckDBPyConnection, *, worst: int = WORST) -> Grade:
    """Grade the predictions of a history; the `worst` misses by ratio, in either direction."""
    spreads = [
        Spread(by, *row)
        for by, column in (("all", "'all'"), ("model", "model"), ("month", "month"), ("ticket", "ticket_stem"))
        for row in _rows(db, _spread(column))
    ]
    complexity = tuple(Words(*row) for row in _rows(db, _COMPLEXITY))
    both = {measure: 0 for measure in MEASURES}
    both |= {spread.measure: spread.records for spread in spreads if spread.by == "all"}
    both["complexity"] = sum(words.records for words in complexity)
    records = db.execute("SELECT count(*) FROM run_records").fetchone()
    misses = tuple(Miss(*row) for row in _rows(db, f"{_PAIRS} {_WORST} LIMIT {int(worst)}"))
    return Grade(int(records[0]) if records else 0, both, tuple(spreads), misses, complexity)


def _spread(column: str) -> str:
    ratio = "actual / nullif(predicted, 0)"
    return (
        f"{_PAIRS} SELECT {column} AS name, measure, count(*),"
        f" {', '.join(f'round(quantile_cont({ratio}, {part}), 3)' for part in (0.25, 0.5, 0.75))},"
        f" count(*) FILTER (abs(actual - predicted) <= {NEAR} * greatest(predicted, 1)),"
        " round(avg(actual - predicted), 3) FROM pairs GROUP BY ALL ORDER BY name, measure"
    )


# As far off by half as by double; what was predicted as nothing comes by its size.
_WORST = """
    SELECT ticket_stem, path, model, month, measure, predicted, actual, round(actual / nullif(predicted, 0), 3)
    FROM pairs WHERE actual <> predicted
    ORDER BY abs(ln((actual + 1) / (predicted + 1))) DESC, path, measure"""

_COMPLEXITY = f"""
    {_PAIRS} SELECT complexity_before, complexity_after, count(*) FROM runs
    WHERE complexity_before <> '' AND complexity_after <> '' GROUP BY ALL ORDER BY 3 DESC, 1, 2"""


def _rows(db: DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return db.execute(query).fetchall()
