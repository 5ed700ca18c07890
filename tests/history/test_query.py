"""A query ends: with its rows, or with one clear sentence. Whatever it is, nothing else happens."""

import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from backstory.errors import BackstoryError, Exit
from backstory.history import guard, sandbox, store
from backstory.history.query import Result, run
from tests.history.built import Build, ask, write_history
from tests.history.hostile_queries import FAMILIES

ENDLESS = {
    "recursion": "WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t) SELECT count(*) FROM t",
    "product": "SELECT sum(a.range * b.range) FROM range(10000000) AS a, range(10000000) AS b",
    "a billion rows": "SELECT sum(hash(range)) FROM range(1000000000000)",
    "one call on long text": "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "calls that no interrupt reaches": "SELECT sum(length(repeat('x', 10000000 + range))) FROM range(1000000)",
    "a parser that goes back and forth": "SELECT " + "(" * 20_000,
    "expressions inside expressions": "WITH "
    + ", ".join(
        f"t{n} AS NOT MATERIALIZED (SELECT a.x FROM t{n - 1} AS a, t{n - 1} AS b)" if n else "t0 AS (SELECT 1 AS x)"
        for n in range(25)
    )
    + " SELECT count(*) FROM t24",
}
GREEDY = {
    "a long text": "SELECT repeat(repeat('x', 1000), 1000000)",
    "a long list": "SELECT len(range(300000000))",
    "a list of everything": "SELECT len(list(range)) FROM range(1000000000)",
    "a sort": "SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY hash(range)) AS n FROM range(100000000))",
    "a text that doubles": "WITH RECURSIVE t AS (SELECT 'x' AS s, 1 AS i UNION ALL SELECT s || s, i + 1 FROM t"
    " WHERE i < 40) SELECT max(length(s)) FROM t",
}


ROWS = {
    "commits": [{"sha": sha, "subject": subject} for sha, subject in (("a1", "Begin"), ("b2", "Go on"), ("c3", "End"))]
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("query"))
    write_history(folder, ROWS)
    return folder


def refusal(folder: str, sql: str, seconds: float = 10.0, rows: int = 1000, memory_mb: int = 256) -> BackstoryError:
    with pytest.raises(BackstoryError) as caught:
        run(folder, sql, seconds=seconds, rows=rows, memory_mb=memory_mb)
    assert caught.value.code == Exit.USAGE and caught.value.hint
    return caught.value


def test_a_query_is_answered_with_names_types_and_rows(folder: str) -> None:
    result = run(folder, "SELECT sha, length(subject) AS n FROM commits ORDER BY sha;")
    assert result[:4] == (("sha", "n"), ("VARCHAR", "BIGINT"), [("a1", 5), ("b2", 5), ("c3", 3)], False)
    assert 0 <= result.seconds < 10


def test_rows_beyond_the_limit_are_left_out_and_the_result_says_so(folder: str) -> None:
    for rows, found, more in ((0, 0, True), (2, 2, True), (3, 3, False)):
        result = run(folder, "SELECT sha FROM commits ORDER BY sha", rows=rows)
        assert (len(result.rows), result.more) == (found, more)
    assert run(folder, "SELECT sha FROM commits WHERE false", rows=0)[:4] == (("sha",), ("VARCHAR",), [], False)


def test_what_cannot_be_asked_says_so_in_one_line_with_the_next_step(folder: str) -> None:
    error = refusal(folder, "SELECT sbject FROM commits")
    assert error.message.startswith(
        'Referenced column "sbject" not found in FROM clause! Candidate bindings: "subject"'
    )
    assert "backstory history query --schema" in error.hint
    assert "is not open to queries" in refusal(folder, "DELETE FROM commits").message


def test_without_a_history_or_with_a_broken_one_the_refresh_is_named(build_history: Build, tmp_path: Path) -> None:
    folder = build_history()
    assert run(folder, "SELECT 1").rows == [(1,)]
    assert refusal(str(tmp_path / "nowhere"), "SELECT 1").hint == "Run `backstory history refresh`."
    pointer = store.current(folder)
    assert pointer
    Path(folder, pointer.file).write_bytes(b"no database" * 1000)
    assert refusal(folder, "SELECT 1").hint == "Run `backstory history refresh --rebuild`."


@pytest.mark.parametrize("name", ENDLESS)
def test_a_query_that_does_not_end_is_ended(folder: str, name: str) -> None:
    begun = time.monotonic()
    error = refusal(folder, ENDLESS[name], seconds=0.3)
    # A second beyond the limit, and the start of the process on a machine that runs other tests.
    assert time.monotonic() - begun < 0.3 + 1 + 5
    assert error.message == "The query ran for 0.3 seconds and was ended." and "`--seconds`" in error.hint


@pytest.mark.parametrize("name", GREEDY)
def test_a_query_that_takes_too_much_memory_is_ended(folder: str, name: str) -> None:
    error = refusal(folder, GREEDY[name], seconds=60, memory_mb=64)
    assert error.message == "The query needs more than 64 MB of memory." and "`--memory-mb`" in error.hint


def test_a_sort_of_more_than_the_memory_is_answered_as_far_as_it_is_shown(folder: str) -> None:
    sql = "SELECT range, repeat('x', 100) FROM range(2000000) ORDER BY hash(range)"
    result = run(folder, sql, rows=5, memory_mb=64, seconds=60)
    assert len(result.rows) == 5 and result.more


def test_an_answer_that_is_too_large_is_refused_and_a_large_one_is_not(folder: str) -> None:
    sql = "SELECT repeat('x', 1000000) FROM range({})"
    assert len(run(folder, sql.format(20), seconds=60).rows) == 20
    assert refusal(folder, sql.format(40), seconds=60).message == "The answer is larger than 32 MB."


@pytest.mark.parametrize(
    ("limits", "flag"),
    [
        ({"seconds": 0.0}, "--seconds"),
        ({"seconds": -1.0}, "--seconds"),
        ({"seconds": float("nan")}, "--seconds"),
        ({"seconds": float("inf")}, "--seconds"),
        ({"rows": -1}, "--rows"),
        ({"rows": 10**9}, "--rows"),
        ({"memory_mb": 1}, "--memory-mb"),
    ],
)
def test_limits_that_are_none_are_refused(folder: str, limits: dict[str, float], flag: str) -> None:
    with pytest.raises(BackstoryError, match=flag):
        run(folder, "SELECT 1", **limits)  # type: ignore[arg-type]


def contents(*folders: Path) -> dict[str, str]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
def test_nothing_on_disk_changes_whatever_is_asked(
    build_history: Build, tmp_path: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build_history(**ROWS)
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    (work / "x.csv").write_text("a\n1\n", encoding="utf-8")
    (work / "duckdb.py").write_text("raise SystemExit('the working folder was imported')", encoding="utf-8")
    monkeypatch.chdir(work)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(temporary))
    before = contents(tmp_path, isolated)

    def ask(sql: str) -> str:
        try:
            return f"{len(run(folder, sql, seconds=1, memory_mb=64).rows)} rows"
        except BackstoryError as error:
            return error.message

    hostile = [sql for family in FAMILIES for sql in family.hostile[:: max(1, len(family.hostile) // 2)]]
    limits = [GREEDY["a sort"], GREEDY["a long text"], ENDLESS["product"]]
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(ask, [*hostile, *limits, "SELECT sha FROM commits"]))
    assert said[-1] == "3 rows" and not any(message.endswith(" rows") for message in said[:-1])
    assert not any("without an answer" in message for message in said)
    assert contents(tmp_path, isolated) == before and str(Path(folder, "current.json")) in before


def test_a_process_that_dies_or_never_answers_is_one_clear_line(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from backstory.history import query

    assert run(folder, "SELECT 1").rows == [(1,)]
    monkeypatch.setattr(query, "_PROGRAM", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert refusal(folder, "SELECT 1").message == "DuckDB ended without an answer (exit code -11)."
    monkeypatch.setattr(query, "_PROGRAM", "print('[1'); raise ImportError('no\\x1b[31m duckdb')")
    assert refusal(folder, "SELECT 1").message.endswith("(exit code 1). ImportError: no duckdb")
    for written in ("", "[1]", "[1", '{"more": false}', '{"more": 1}\\n{"more": 1}', '[1]\\n{"more": 1, "seconds": 1}'):
        monkeypatch.setattr(query, "_PROGRAM", f"print('{written}')")
        assert refusal(folder, "SELECT 1").message == "DuckDB ended without an answer (exit code 0)."
    monkeypatch.setattr(query, "_PROGRAM", "import threading; threading.Event().wait()")
    monkeypatch.setattr(query, "_START_SECONDS", 0.2)
    assert "was ended" in refusal(folder, "SELECT 1", seconds=0.1).message


def test_memory_over_is_no_answer_inside_the_process_either(folder: str) -> None:
    with guard.opened(folder, 32) as db:
        assert ask(db, "SELECT count(*) FROM commits") == [(3,)]
        with pytest.raises(duckdb.OutOfMemoryException):
            ask(db, GREEDY["a sort"])


def test_what_a_process_holds_is_known_also_where_the_kernel_does_not_list_it(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = sandbox._resident_bytes()
    monkeypatch.setattr(sandbox, "_pages", lambda _: 0)
    assert listed > 10_000_000 < sandbox._resident_bytes()
    monkeypatch.undo()
    assert sandbox._pages(99) == 0 < sandbox._pages(0)


def test_no_query_outlives_a_caller_that_is_interrupted(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def communicate(self, *_: object, **__: object) -> tuple[bytes, bytes]:
            begun.append(self)
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(folder, ENDLESS["product"], seconds=3000)
    assert begun[0].returncode is not None


READER = """
import sys
from backstory.history.query import run
for _ in range(8):
    [(tickets, runs, shas)] = run(sys.argv[1], '''
        SELECT (SELECT count(*) FROM tickets), (SELECT count(*) FROM run_records), count(*) FROM commits''').rows
    assert tickets == runs == shas > 0, (tickets, runs, shas)
print("read")
"""
PUBLISHER = """
import sys
from tests.history.built import write_history
for n in range(1, 25):
    rows = [{"path": str(i)} for i in range(n % 7 + 1)]
    commits = [{"sha": row["path"]} for row in rows]
    write_history(sys.argv[1], {"tickets": rows, "run_records": rows, "commits": commits})
print("published")
"""


@pytest.mark.slow
def test_readers_never_fail_while_others_publish(build_history: Build) -> None:
    folder = build_history(tickets=[{"path": "0"}], run_records=[{"path": "0"}], commits=[{"sha": "0"}])
    root = Path(__file__).resolve().parents[2]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, folder],
            env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for program in (PUBLISHER, READER, READER)
    ]
    said = [process.communicate()[0].decode() for process in processes]
    assert said == ["published\n", "read\n", "read\n"]
    assert isinstance(run(folder, "FROM tickets"), Result)
