"""What DuckDB's values become: plain values that lose nothing, also where Python has none for them."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from backstory.history import guard
from backstory.history.sandbox import answer
from tests.history.built import ask, write_history


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBPyConnection]:
    folder = str(tmp_path_factory.mktemp("values"))
    write_history(folder, {"commits": [{"sha": "a", "parents": ["b", "c"], "committed_at": "2024-02-29 23:59:59.5"}]})
    with guard.opened(folder, 256) as connection:
        yield connection


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        ("NULL", None),
        ("true", True),
        ("7::UTINYINT", 7),
        ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
        ("340282366920938463463374607431768211455::UHUGEINT", 2**128 - 1),
        ("123456789012345678901234567890123456789012::BIGNUM", "123456789012345678901234567890123456789012"),
        ("0.1::DOUBLE + 0.2::DOUBLE", 0.1 + 0.2),
        ("'inf'::DOUBLE", math.inf),
        ("1.50::DECIMAL(18, 2)", 1.5),
        ("12345678901234567890.12::DECIMAL(38, 2)", "12345678901234567890.12"),
        ("sum(1.25)", 1.25),
        ("'漢' || chr(0) || chr(10)", "漢\0\n"),
        ("TIMESTAMP '2024-02-29 23:59:59.123456'", "2024-02-29T23:59:59.123456Z"),
        ("TIMESTAMPTZ '2024-03-01 01:00:00+02'", "2024-02-29T23:00:00Z"),
        ("TIMESTAMP_NS '2024-02-29 23:59:59.123456789'", "2024-02-29T23:59:59.123456789Z"),
        ("TIMESTAMP_S '2024-02-29 23:59:59'", "2024-02-29T23:59:59Z"),
        ("TIMESTAMP 'infinity'", "infinity"),
        ("TIMESTAMPTZ '-infinity'", "-infinity"),
        ("TIMESTAMP '290000-01-01'", "290000-01-01T00:00:00Z"),
        ("TIMESTAMP '0044-03-15 (BC) 12:00:00'", "0044-03-15 (BC) 12:00:00"),
        ("TIMESTAMP '9999-12-31 23:59:59.999999'", "9999-12-31T23:59:59.999999Z"),
        ("DATE '2024-02-29'", "2024-02-29"),
        ("DATE 'infinity'", "infinity"),
        ("DATE '5870000-01-01'", "5870000-01-01"),
        ("TIME '24:00:00'", "24:00:00"),
        ("'10:00:00+02'::TIMETZ", "10:00:00+02"),
        ("INTERVAL '1 year 2 months -3 days 04:05:06.7'", "1 year 2 months -3 days 04:05:06.7"),
        ("INTERVAL '100000000 years'", "100000000 years"),
        ("'\\xAA\\x00b'::BLOB", "\\xAA\\x00b"),
        ("'101'::BIT", "101"),
        ("UUID '5e7dd0b1-0d0b-4c8b-9b1e-2a4c3f1d7a10'", "5e7dd0b1-0d0b-4c8b-9b1e-2a4c3f1d7a10"),
        ("'b'::ENUM('a', 'b')", "b"),
        ("'{\"a\": 1}'::JSON", '{"a": 1}'),
        ("[1, NULL, 2]", [1, None, 2]),
        ("NULL::INTEGER[]", None),
        ("[]", []),
        ("[TIMESTAMP 'infinity', NULL, TIMESTAMP '2024-01-01']", ["infinity", None, "2024-01-01T00:00:00Z"]),
        ("[[INTERVAL 1 MONTH], NULL]", [["1 month"], None]),
        ("array_value(DATE '2024-01-01', NULL)", ["2024-01-01", None]),
        ("{'a b': 1, 'c\"d': {'e': TIMESTAMP '2024-01-01'}}", {"a b": 1, 'c"d': {"e": "2024-01-01T00:00:00Z"}}),
        ("{'a': NULL, 'b': [1.5]}", {"a": None, "b": [1.5]}),
        ("MAP {'k': 1}", {"k": 1}),
        ("MAP {[1, 2]: 'list'}", {"[1, 2]": "list"}),
        ("MAP {TIMESTAMP '2024-01-01': [DATE 'infinity']}", {"2024-01-01T00:00:00Z": ["infinity"]}),
        ("MAP {1: NULL}", {"1": None}),
        ("histogram(7)", {"7": 1}),
        ("row(1, DATE '2024-01-01')", [1, "2024-01-01"]),
        ("union_value(k := INTERVAL 1 DAY)", {"k": "1 day"}),
        ("'{\"a\": [1, null]}'::JSON::VARIANT", {"a": [1, None]}),
        ("parents", ["b", "c"]),
        ("committed_at", "2024-02-29T23:59:59.5Z"),
    ],
)
def test_a_value_becomes_plain(db: DuckDBPyConnection, expression: str, plain: Any) -> None:
    [(found,)] = ask(db, f"SELECT any_value(v) FROM (SELECT {expression} AS v FROM commits GROUP BY ALL)")
    assert found == plain and type(found) is type(plain)
    [(inside,)] = ask(db, f"SELECT [{expression}] FROM commits GROUP BY ALL")
    assert inside == [plain]


def test_what_is_no_number_stays_apart_from_null(db: DuckDBPyConnection) -> None:
    [(number, nothing)] = ask(db, "SELECT 'nan'::DOUBLE, NULL::DOUBLE")
    assert math.isnan(number) and nothing is None


def test_columns_keep_their_names_and_types_also_when_they_repeat(db: DuckDBPyConnection) -> None:
    lines = list(
        answer(db, 'SELECT 1 AS a, DATE \'2024-01-01\' AS a, 2 AS "A""x", count(*), [1.5] AS l FROM commits', 9)
    )
    assert json.loads(lines[0]) == {
        "columns": ["a", "a", 'A"x', "count_star()", "l"],
        "types": ["INTEGER", "DATE", "INTEGER", "BIGINT", "DECIMAL(2,1)[]"],
    }
    assert json.loads(lines[1]) == [1, "2024-01-01", 2, 1, [1.5]]


def test_the_order_that_a_query_asks_for_survives(db: DuckDBPyConnection) -> None:
    ordered = ask(db, "SELECT n, DATE '2024-01-01' + n::INTEGER FROM range(5000) AS t(n) ORDER BY hash(n)", 5000)
    again = ask(db, "SELECT n, DATE '2024-01-01' + n::INTEGER FROM range(5000) AS t(n) ORDER BY hash(n)", 100)
    assert len(ordered) == 5000 and ordered[:100] == again and ordered != sorted(ordered)
    assert ask(db, "SELECT n FROM range(9) AS t(n) ORDER BY n DESC LIMIT 2 OFFSET 1") == [(7,), (6,)]
