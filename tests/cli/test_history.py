"""The history from the shell: refreshed by itself, asked with SQL and with words, in every format."""

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Cli

RUN = """\
---
outcome: done
predicted_minutes: 30
actual_minutes: 90
predicted_files: 1
actual_files: 4
model_exact: model-1
---
## Surprises / judgment calls
The lock file of the parser was stale after the crash.
"""


def _commit(cli: Cli, message: str, **files: str) -> str:
    for name, text in files.items():
        (cli.folder / name).write_text(text, encoding="utf-8")
    for arguments in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", message]):
        subprocess.run(["git", *arguments], cwd=cli.folder, check=True, stdin=subprocess.DEVNULL)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=cli.folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _ticket(cli: Cli, stem: str, title: str, run: str = "") -> None:
    folder = cli.folder / "tickets"
    folder.mkdir(exist_ok=True)
    (folder / f"{stem}.md").write_text(f"# {title}\n\n## Goal\n{title} at last.\n", encoding="utf-8")
    if run:
        (folder / f"{stem}.run.md").write_text(run, encoding="utf-8")


def test_refresh_says_what_it_read_and_then_that_nothing_had_changed(cli: Cli) -> None:
    _ticket(cli, "parser", "Mend the parser", RUN)
    first = cli("history", "refresh").stdout
    assert "The history is up to date" in first and "tickets" in first and "run_records" in first
    assert "nothing had changed" in cli("history", "refresh").stdout
    data = cli.json("history", "refresh", "--rebuild")
    assert data["rebuilt"] and data["rows"]["tickets"] == 1 and data["rows"]["commits"] == 2


def test_what_could_not_be_read_is_said_with_the_query_that_lists_it(cli: Cli) -> None:
    _ticket(cli, "odd", "Odd")
    (cli.folder / "tickets" / "odd.md").write_text("---\na: b: c\n---\n# Odd\n", encoding="utf-8")
    said = cli("history", "refresh").stdout
    assert "read by a guess" in said
    query = said.split("`")[1].removeprefix("backstory history query ").strip('"')
    assert "tickets/odd.md" in cli("history", "query", query).stdout


def test_a_query_is_answered_in_every_format(cli: Cli) -> None:
    _commit(cli, "Say | it, twice", **{"note.txt": "x"})
    sql = "SELECT subject, is_merge FROM commits WHERE subject LIKE 'Say%'"
    table = cli("history", "query", sql).stdout
    assert "subject" in table.splitlines()[0] and "Say | it, twice" in table
    rows = list(csv.reader(io.StringIO(cli("history", "query", sql, "--format", "csv").stdout)))
    assert rows == [["subject", "is_merge"], ["Say | it, twice", "false"]]
    assert json.loads(cli("history", "query", sql, "--format", "json").stdout) == [
        {"subject": "Say | it, twice", "is_merge": False}
    ]
    assert "Say \\| it, twice" in cli("history", "query", sql, "--format", "markdown").stdout
    data = cli.json("history", "query", sql)
    assert data["columns"] == ["subject", "is_merge"] and data["rows"] == [["Say | it, twice", False]]
    assert data["more"] is False


def test_a_query_can_come_from_stdin(cli: Cli) -> None:
    assert "2" in cli("history", "query", "-", "--format", "csv", stdin="SELECT count(*) FROM commits").stdout


def test_bad_queries_get_one_sentence_a_next_step_and_code_2(cli: Cli) -> None:
    for sql, said in (
        ("SELECT nothing FROM commits", "nothing"),
        ("SELEC 1", "SELEC"),
        ("DELETE FROM commits", ""),
        ("SELECT 1; SELECT 2", ""),
        ("SELECT * FROM read_csv('/etc/passwd')", ""),
        ("", "no query"),
        ("   ", "no query"),
    ):
        result = cli("history", "query", sql, code=2)
        assert said in result.stderr and "Traceback" not in result.stderr, sql
        assert result.stdout == ""
        assert len([line for line in result.stderr.splitlines() if line.strip()]) >= 2, result.stderr
    assert cli("history", "query", "SELECT 1 AS one").stdout


def test_more_rows_than_asked_for_are_said(cli: Cli) -> None:
    result = cli("history", "query", "SELECT * FROM range(100)", "--rows", "5", "--format", "csv")
    assert len(result.stdout.splitlines()) == 6
    assert "--rows" in result.stderr
    assert "--rows" not in cli("history", "query", "SELECT * FROM range(100)", "--rows", "100").stderr


def test_a_query_that_never_ends_is_ended(cli: Cli) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    result = cli("history", "query", endless, "--seconds", "1", code=2)
    assert "--seconds" in result.stderr


def test_the_tables_and_examples_are_printed_and_the_examples_run(cli: Cli) -> None:
    schema = cli("history", "query", "--schema").stdout
    assert "run_records" in schema and "ticket_stem" in schema
    assert "commits" in {table["name"] for table in cli.json("history", "query", "--schema")}
    examples = cli.json("history", "query", "--examples")
    assert len(examples) == 10
    assert examples[0]["sql"].strip() in cli("history", "query", "--examples").stdout
    for example in examples[:2]:
        cli("history", "query", example["sql"])


def test_secrets_that_others_wrote_are_taken_out_of_answers(cli: Cli) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    _commit(cli, f"Use the token {secret} in the parser")
    for command in (
        ["history", "query", "SELECT subject, [subject], {'a': subject} FROM commits"],
        ["history", "search", "token", "parser"],
        ["search", "token", "parser"],
    ):
        found = cli(*command).stdout
        assert "Use the token" in found and secret not in found, command


def test_search_finds_tickets_runs_and_commits_with_their_stem_and_source(cli: Cli) -> None:
    _ticket(cli, "parser", "Mend the parser", RUN)
    sha = _commit(cli, "Parser: drop the stale lock file", **{"lock.txt": "x"})
    said = cli("history", "search", "stale", "lock").stdout
    assert f"commit {sha[:10]}" in said and "run record tickets/parser.run.md" in said
    hits = cli.json("history", "search", "parser")["hits"]
    assert {(hit["source"], hit["stem"]) for hit in hits} >= {("ticket", "parser"), ("run_record", "parser")}
    assert all(hit["snippet"] and hit["score"] > 0 for hit in hits)
    only = cli.json("history", "search", "parser", "--source", "ticket")["hits"]
    assert {hit["source"] for hit in only} == {"ticket"}


def test_the_files_of_the_work_come_first(cli: Cli) -> None:
    for number in range(8):
        _commit(cli, "Handle the timeout of the client", **{f"file{number}.txt": "x"})
    for number in (0, 5):
        wanted = f"file{number}.txt"
        first = cli.json("history", "search", "timeout client", "--for", wanted)["hits"][0]
        assert (
            f"{wanted}" in cli("history", "query", f"SELECT path FROM commit_files WHERE sha = '{first['ref']}'").stdout
        )


def test_plain_search_covers_the_history_once_it_was_read_and_keeps_up(cli: Cli) -> None:
    cli.record("decide", "Keep the parser small", "--why", "it is read often")
    _commit(cli, "Parser: read in chunks", **{"a.txt": "x"})
    before = cli.json("search", "parser")["hits"]
    assert {hit["source"] for hit in before} == {"entry"}
    cli("history", "refresh")
    assert {hit["source"] for hit in cli.json("search", "parser")["hits"]} == {"entry", "commit"}
    sha = _commit(cli, "Parser: never look back", **{"b.txt": "x"})
    assert sha in {hit["ref"] for hit in cli.json("search", "parser look")["hits"]}
    subprocess.run(["git", "reset", "-q", "--hard", "HEAD~1"], cwd=cli.folder, check=True)
    assert sha not in {hit["ref"] for hit in cli.json("search", "parser look")["hits"]}


def test_as_it_is_asks_what_was_read_last(cli: Cli) -> None:
    cli("history", "refresh")
    _commit(cli, "Newer")
    count = ["history", "query", "SELECT count(*) FROM commits", "--format", "csv"]
    assert cli(*count, "--as-is").stdout.split() == ["count_star()", "2"]
    assert cli(*count).stdout.split() == ["count_star()", "3"]


def test_grade_says_how_many_records_carry_both_sides(cli: Cli) -> None:
    assert "No run record carries both" in cli("history", "grade").stderr
    _ticket(cli, "parser", "Mend the parser", RUN)
    said = cli("history", "grade").stdout
    assert "1 run records" in said and "1 for minutes" in said and "model-1" in said and "Worst misses" in said
    data = cli.json("history", "grade", "--by", "ticket")
    assert data["both"] == {"files": 1, "minutes": 1, "complexity": 0}
    assert [(miss["measure"], miss["ratio"]) for miss in data["worst"]] == [("minutes", 3.0), ("files", 4.0)]


def test_themes_show_what_recurs(cli: Cli) -> None:
    assert "There are no themes" in cli("history", "themes").stderr
    for number in range(4):
        _ticket(cli, f"t{number}", f"Ticket {number}", RUN.replace("the parser", f"the parser in case {number}"))
    for number in range(4, 8):
        _ticket(cli, f"t{number}", f"Ticket {number}", "## Dead ends\nTokens of the upload expire behind the proxy.\n")
    found = cli.json("history", "themes", "--members", "10")
    assert sorted(theme["size"] for theme in found) == [4, 4]
    assert {member["ticket_stem"] for theme in found for member in theme["members"]} == {f"t{n}" for n in range(8)}
    assert "4 records" in cli("history", "themes").stdout


def test_the_history_is_no_part_of_the_tree(cli: Cli) -> None:
    cli("history", "refresh")
    left = subprocess.run(
        ["git", "status", "--porcelain", "--ignored"], cwd=cli.folder, check=True, capture_output=True, text=True
    ).stdout
    assert "history" not in left and "duckdb" not in left


def test_status_shows_what_the_history_holds(cli: Cli) -> None:
    assert "not read yet" in cli("status").stdout
    cli("history", "refresh")
    assert "2 commits" in cli("status").stdout
    assert cli.json("status")["history"]["commits"] == 2


def test_outside_of_a_project_it_says_so(
    tmp_path: Path, process: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = process(tmp_path, "history", "query", "SELECT 1")
    assert done.returncode == 3 and "backstory init" in done.stderr
