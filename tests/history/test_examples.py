"""Each example answers its question, on a history small enough to know the answer by heart."""

from collections.abc import Iterator
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from backstory.history import guard
from backstory.history.examples import EXAMPLES
from tests.history.built import ask, write_history


def day(month: int, day: int) -> str:
    return f"2026-{month:02}-{day:02} 12:00:00"


# Commit, author, when, its files. `src/app.py` and `src/db.py` change together three times, twice of it in reach.
COMMITS: list[tuple[str, str, str, list[str]]] = [
    ("c1", "Ada", day(1, 5), ["src/app.py", "src/db.py", "README.md"]),
    ("c2", "Ben", day(2, 5), ["src/app.py", "src/db.py"]),
    ("c3", "Ada", day(2, 9), ["src/app.py"]),
    ("c4", "Ada", day(3, 1), ["docs/index.md"]),
    ("c5", "Cyd", day(3, 9), ["src/app.py", "src/db.py"]),
]
ENTRIES: list[dict[str, Any]] = [
    {"id": "T1", "kind": "trial", "source": "git", "outcome": "failed", "files": ["src/db.py"], "summary": "Old pool"},
    {"id": "T2", "kind": "trial", "source": "git", "outcome": "failed", "files": ["src/db.py"], "summary": "New pool"},
    {
        "id": "T3",
        "kind": "trial",
        "source": "log",
        "outcome": "worked",
        "files": ["src/app.py"],
        "summary": "Went well",
    },
    {"id": "T4", "kind": "trial", "source": "git", "outcome": "failed", "files": ["src/app.py"], "standing": "retired"},
    {"id": "D1", "kind": "decision", "source": "log", "files": ["src/app.py"], "summary": "One process"},
    {"id": "D2", "kind": "decision", "source": "log", "files": ["docs/index.md"], "summary": "Plain docs"},
    {"id": "I1", "kind": "issue", "source": "log", "files": ["src/app.py"], "summary": "Hangs at exit"},
    {"id": "I2", "kind": "issue", "source": "log", "files": ["src/db.py"], "summary": "Loses rows"},
    {"id": "F2", "kind": "fix", "source": "log", "files": ["src/db.py"], "issue": "I2", "summary": "Flush"},
]
ROWS: dict[str, list[dict[str, Any]]] = {
    "commits": [
        # c5 is a sweeping commit.
        {"sha": sha, "author": author, "authored_at": at, "committed_at": at, "file_count": 90 if sha == "c5" else 3}
        for sha, author, at, _ in COMMITS
    ],
    "commit_files": [{"sha": sha, "path": path} for sha, _, _, paths in COMMITS for path in paths],
    "entries": [
        {"standing": "active", "recorded_at": day(1, place), "confirmed_at": day(1, place), **entry}
        for place, entry in enumerate(ENTRIES, 1)
    ],
    "tickets": [
        {"stem": "pool", "title": "Pool connections", "state": "done", "touches_prefixes": ["src/", "docs/"]},
        {"stem": "exit", "title": "Exit in time", "state": "open", "touches_prefixes": ["src/"]},
        {"stem": "site", "title": "A site", "state": "open", "touches_prefixes": ["docs/"]},
    ],
    "run_records": [
        {
            "ticket_stem": "pool",
            "path": "pool/attempts/1/run.md",
            "attempt": 1,
            "predicted_minutes": 20.0,
            "actual_minutes": 50.0,
            "ended_at": day(1, 6),
            "dead_ends_text": "A thread for each",
        },
        {
            "ticket_stem": "pool",
            "path": "pool/attempts/2/run.md",
            "attempt": 2,
            "wall_time_minutes": 60.0,
            "actual_minutes": 70.0,
            "ended_at": day(2, 6),
            "dead_ends_text": " ",
        },
    ],
    "prs": [
        {"number": 7, "title": "Pool again", "state": "open", "paths": ["src/db.py", "src/new.py"]},
        {"number": 8, "title": "Words", "state": "open", "paths": ["docs/index.md"]},
        {"number": 9, "title": "Long ago", "state": "merged", "paths": ["src/db.py"]},
    ],
}
ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "changed-together": [("src/app.py", "src/db.py", 2)],
    "who-touched": [
        ("Ada", 2, "2026-01-05T12:00:00Z", "2026-02-09T12:00:00Z"),
        ("Cyd", 1, "2026-03-09T12:00:00Z", "2026-03-09T12:00:00Z"),
        ("Ben", 1, "2026-02-05T12:00:00Z", "2026-02-05T12:00:00Z"),
    ],
    "backed-out": [("src/db.py", 2, "2026-01-02T12:00:00Z", "New pool")],
    "over-estimate": [("pool", "Pool connections", 1, 20.0, 50.0, 2.5)],
    "dead-ends": [("docs/", 1, "pool: A thread for each"), ("src/", 1, "pool: A thread for each")],
    "no-run-record": [("open", 2, ["exit", "site"])],
    "commits-by-area": [
        ("2026-03", "docs", 1),
        ("2026-03", "src", 1),
        ("2026-02", "src", 2),
        ("2026-01", ".", 1),
        ("2026-01", "src", 1),
    ],
    "shaken-decisions": [("D1", "One process", "src/app.py", 3, "2026-03-09T12:00:00Z")],
    "open-issues": [("I1", "Hangs at exit", ["src/app.py"], 61)],
    "risky-pull-requests": [
        (7, "Pool again", ["src/db.py"], "T1", "Old pool"),
        (7, "Pool again", ["src/db.py"], "T2", "New pool"),
    ],
}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBPyConnection]:
    folder = str(tmp_path_factory.mktemp("examples"))
    write_history(folder, ROWS)
    with guard.opened(folder, 256) as connection:
        yield connection


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_an_example_answers_its_question(db: DuckDBPyConnection, example: Any) -> None:
    assert ask(db, example.sql) == ANSWERS[example.title]


def test_there_are_ten_examples_that_say_what_they_answer() -> None:
    assert len(EXAMPLES) == len(ANSWERS) == len({example.title for example in EXAMPLES}) == 10
    for example in EXAMPLES:
        assert example.question.endswith("?") and ";" not in example.sql.replace("'; '", "")
        assert max(map(len, example.sql.splitlines())) <= 120
