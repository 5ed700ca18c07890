"""One SELECT that only reads the history gets through the guard, and nothing else does."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.errors import BackstoryError, Exit
from backstory.history import guard
from backstory.history.schema import TABLES
from backstory.records.hostile import one_line
from tests.history.built import ask, write_history
from tests.history.hostile_queries import FAMILIES, HONEST, HOSTILE, Family

ROWS = {
    "commits": [{"sha": "a1", "subject": "Begin"}, {"sha": "b2", "subject": "Go on"}, {"sha": "c3", "subject": "End"}],
    "commit_files": [{"sha": "a1", "path": "src/app.py"}, {"sha": "b2", "path": "src/app.py"}],
}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBPyConnection]:
    """A connection as queries have it, to a history that also holds what no query may see."""
    folder = tmp_path_factory.mktemp("guard")
    (folder / "secret.txt").write_text("secret", encoding="utf-8")
    write_history(
        str(folder / "history"),
        ROWS,
        (
            "CREATE TABLE hidden AS SELECT 1 AS n",
            f"CREATE VIEW leak AS FROM read_text('{folder}/secret.txt')",
            f"CREATE MACRO ucase(x) AS (SELECT content FROM read_text('{folder}/secret.txt'))",
            "CREATE MACRO leaking() AS 1",
            "CREATE TABLE vectors AS SELECT 'a1' AS ref",
        ),
    )
    with guard.opened(str(folder / "history"), 256) as connection:
        yield connection


def refusal(db: DuckDBPyConnection, sql: str) -> BackstoryError:
    with pytest.raises(BackstoryError) as caught:
        ask(db, sql)
    return caught.value


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_hostile_statements_are_refused_and_their_honest_twins_answered(db: DuckDBPyConnection, family: Family) -> None:
    for sql in family.hostile:
        error = refusal(db, sql)
        assert re.search(family.says, error.message), (sql[:200], error.message)
        assert error.code == Exit.USAGE and error.hint and "\n" not in error.message and len(error.message) < 600
    for sql, expected in family.honest:
        assert ask(db, sql)[0][0] == expected, sql[:200]


def test_there_are_more_than_sixty_hostile_statements_and_some_honest_ones_in_each_family() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) > 60
    assert all(family.honest for family in FAMILIES) and len(HONEST) > 30


def test_the_vectors_may_be_read_and_other_tables_of_the_file_not(db: DuckDBPyConnection) -> None:
    assert ask(db, "SELECT c.subject FROM vectors AS v JOIN commits AS c ON c.sha = v.ref") == [("Begin",)]
    for name in TABLES:
        assert ask(db, f"SELECT count(*) >= 0 FROM {name}") == [(True,)]
    assert "is not a table of the history" in refusal(db, "SELECT * FROM hidden").message
    assert "unknown, or not open" in refusal(db, "SELECT leaking()").message


def test_a_macro_in_the_file_that_takes_the_name_of_a_function_still_meets_the_second_wall(
    db: DuckDBPyConnection,
) -> None:
    assert ask(db, "SELECT lcase('X')") == [("x",)]
    assert "file system operations are disabled" in refusal(db, "SELECT ucase('x')").message


def test_behind_the_guard_the_connection_itself_can_do_nothing(db: DuckDBPyConnection, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n", encoding="utf-8")
    assert db.execute("SELECT count(*) FROM commits").fetchall() == [(3,)]
    for sql in (
        "DELETE FROM commits",
        "WITH x AS (DELETE FROM commits RETURNING sha) SELECT * FROM x",
        "CREATE TABLE x (y INTEGER)",
        f"SELECT * FROM read_csv('{tmp_path}/x.csv')",
        f"SELECT * FROM '{tmp_path}/x.csv'",
        f"FROM glob('{tmp_path}/*')",
        f"COPY commits TO '{tmp_path}/y.csv'",
        f"WITH x AS (COPY commits TO '{tmp_path}/y.csv') SELECT 1",
        f"EXPORT DATABASE '{tmp_path}/out'",
        f"ATTACH '{tmp_path}/z.duckdb' AS z",
        "SET threads = 8",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "RESET lock_configuration",
        "SET temp_directory = '/tmp'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM tmp_path",
        "SELECT * FROM ROWS",
    ):
        with pytest.raises(duckdb.Error):
            db.execute(sql).fetchall()
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_time_is_utc_and_no_progress_is_shown_where_the_answer_goes(db: DuckDBPyConnection) -> None:
    names = "('TimeZone', 'enable_progress_bar', 'lock_configuration', 'enable_external_access')"
    found = db.execute(f"SELECT name, value FROM duckdb_settings() WHERE name IN {names} ORDER BY name").fetchall()
    assert [value for _, value in found] == ["UTC", "false", "false", "true"]


def test_no_function_that_is_open_is_unknown_to_duckdb(db: DuckDBPyConnection) -> None:
    known = {row[0].lower() for row in db.execute("SELECT function_name FROM duckdb_functions()").fetchall()}
    # Parts of the grammar that come out of the parser as functions or operators.
    assert known >= guard._FUNCTIONS - {"coalesce", "ifnull", "unnest"}
    assert known >= guard._TABLE_FUNCTIONS
    assert {"read_text", "current_setting", "query", "sleep_ms", "nextval"} <= known - guard._FUNCTIONS


def test_every_view_of_duckdb_that_needs_no_schema_has_a_name_that_no_part_of_a_query_may_take(
    db: DuckDBPyConnection,
) -> None:
    views = db.execute("SELECT view_name FROM duckdb_views() WHERE internal AND schema_name IN ('main', 'pg_catalog')")
    names = [row[0] for row in views.fetchall()]
    assert "duckdb_databases" in names
    for name in names:
        assert "cannot name a part" in refusal(db, f"WITH {name} AS (SELECT 1) SELECT 1").message
    assert ask(db, "WITH plain AS (SELECT 1) SELECT * FROM plain") == [(1,)]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT * FROM comits", 'Did you mean "commits"?'),
        ("SELECT * FROM main.comits", 'Did you mean "commits"?'),
        ("WITH latest AS (SELECT 1) FROM latst", 'Did you mean "latest"?'),
        ("SELECT lenght(sha) FROM commits", "Did you mean length()?"),
        ("SELECT sbject FROM commits", 'Candidate bindings: "subject"'),
        ("SELECT c.sbject FROM commits AS c", 'does not have a column named "sbject"'),
        ("SELECT * FROM commits WHER sha = 'x'", 'Syntax error at or near "sha"'),
        ("SELECT sha,\n  nosuch\nFROM commits", "(line 2)"),
        ("\n\nSELECT nosuch FROM commits -- ;\n;", 'Referenced column "nosuch"'),
        ("SELECT sha FROM commits GROUP BY subject", "must appear in the GROUP BY clause"),
        ("SELECT sha::INTEGER FROM commits", "Could not convert string 'a1' to INT32"),
        ("SELECT list_transform([1], x -> x + 1)", "Please transition to the new lambda syntax"),
        ("SELECT max(sha, 1, 2) FROM commits", "No function matches the given name and argument types"),
        ("SELECT error('mine' || chr(10) || chr(27) || '[31mred')", "Mine red"),
        ("SELECT " + "1 + " * 300 + "1", "nested too deeply"),
        ("PIVOT commits ON sha", "PIVOT needs its values named"),
    ],
)
def test_an_honest_mistake_is_one_clear_line(db: DuckDBPyConnection, sql: str, says: str) -> None:
    error = refusal(db, sql)
    assert says in error.message
    assert error.message.isprintable() and "SET " not in error.message and "LINE" not in error.message
    assert error.hint


def test_names_in_a_refusal_cannot_reach_the_terminal(db: DuckDBPyConnection) -> None:
    hostile = "x\x1b[31m\u202e\n\x07y"
    for sql in (f'FROM "{hostile}"', f'SELECT "{hostile}"()', f'WITH "{hostile}" AS (FROM commits) SELECT 1'):
        message = refusal(db, sql).message
        assert message.isprintable() and "x y" in message
    assert len(refusal(db, f'FROM "{"x" * 90_000}"').message) <= 500


PIECES = (
    "SELECT FROM WHERE WITH RECURSIVE AS MATERIALIZED ( ) ) ( , . ; ; * 'x' \"x\" 'a.csv' $$ $1 ? -- /* */ \n 1 2.5 "
    "NULL commits sha subject x.y information_schema.tables main hidden read_csv('a.csv') lower( range(3) unnest([1]) "
    "GROUP BY ORDER LIMIT HAVING QUALIFY UNION ALL EXCEPT JOIN LATERAL USING ON AND OR NOT IN IS LIKE :: :: VARCHAR "
    "CASE WHEN THEN END CAST OVER INSERT INTO VALUES DELETE UPDATE SET COPY TO ATTACH PRAGMA DESCRIBE PIVOT FILTER "
    "DISTINCT EXISTS [ ] { } -> lambda x: := = + - || % @ ! \0 \ufeff \u200b \u202e é 漢 \\ ` # OFFSET RETURNING"
).split(" ")


@settings(max_examples=400)
@given(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
        st.lists(st.sampled_from(PIECES), max_size=12).map(lambda words: "SELECT " + " ".join(words)),
        st.tuples(st.sampled_from([sql for sql, _ in HONEST]), st.lists(st.sampled_from(PIECES), max_size=4)).map(
            lambda pair: pair[0][:300] + " ".join(pair[1])
        ),
        st.text(st.characters(exclude_categories=()), max_size=60),
    )
)
def test_whatever_is_asked_there_are_rows_or_one_clear_line(db: DuckDBPyConnection, sql: str) -> None:
    try:
        rows = ask(db, sql)
    except BackstoryError as error:
        assert one_line(error.message, 1000) == error.message and error.hint
    else:
        assert isinstance(rows, list)


@given(st.data(), st.sampled_from([sql for _, _, sql in HOSTILE if len(sql) < 1000 and "--" not in sql]))
def test_case_space_and_comments_hide_nothing(db: DuckDBPyConnection, data: st.DataObject, sql: str) -> None:
    between = st.sampled_from((" ", "\t\n", " /* x */ ", " -- y\n", "\u00a0"))
    parts = re.split(r"\s+(?=[^']*(?:'[^']*'[^']*)*$)", sql)  # white space outside of quotes
    mixed = "".join(part + data.draw(between) for part in parts)
    if data.draw(st.booleans()):
        mixed = re.sub(
            r"'[^']*'|\"[^\"]*\"|\w+", lambda match: match[0] if match[0][0] in "'\"" else match[0].swapcase(), mixed
        )
    with pytest.raises(BackstoryError):
        ask(db, mixed)
