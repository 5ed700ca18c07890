import subprocess
from pathlib import Path

from .conftest import SOURCE, Cli
from .terminal import person


def commit(folder: Path, message: str) -> None:
    for arguments in (["add", "-A"], ["commit", "-q", "-m", message]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL)


def test_show_names_everything_that_an_entry_says_and_rests_on(cli: Cli) -> None:
    id_ = cli.record(
        "decide", "Use WAL mode", "--why", "reads go on", "--rejected", "rollback: locks",
        "--detail", "Line one\nline two", "-f", "src/store.py#save", "--ticket", "T-1",
    )  # fmt: skip
    text = cli("show", id_[-6:]).stdout
    for part in ("decision", "active, fresh", "Use WAL mode", "reads go on", "rollback: locks", "line two",
                 "src/store.py#save", "ticket T-1", "branch main", id_):  # fmt: skip
        assert part in text


def test_show_lists_the_history_of_an_entry(cli: Cli) -> None:
    old = cli.record("decide", "Use WAL mode")
    cli("contest", old, "--why", "the test disagrees")
    new = cli.record("supersede", old, "Use WAL2 mode")
    text = cli("show", old).stdout.split("history")[1]
    assert "contested by command line: the test disagrees" in text
    assert f"superseded by decision {new[-6:]}" in text


def test_show_lists_the_fields_of_a_kind(cli: Cli) -> None:
    text = cli("show", "--fields", "attempt").stdout
    assert "A trial may have:" in text
    assert "  failure_mode\n" in text


def test_why_shows_what_cites_a_file_and_what_it_rests_on(cli: Cli) -> None:
    cli("decide", "Write at once", "-f", "src/store.py#save", "--ticket", "T-9")
    cli("note", "About another file", "-f", "README.md")
    text = cli("why", "src/store.py").stdout
    assert "Write at once" in text
    assert "rests on src/store.py#save, commit " in text
    assert "ticket T-9" in text
    assert "another file" not in text


def test_why_with_a_line_lists_first_what_cites_that_line(cli: Cli) -> None:
    cli("note", "About loading", "-f", "src/store.py:1-3")
    cli("note", "About saving", "-f", "src/store.py:6-7")
    for line, first in (("2", "About loading"), ("7", "About saving")):
        lines = [text for text in cli("why", f"src/store.py:{line}").stdout.splitlines() if " note " in text]
        assert first in lines[0]


def test_why_says_of_an_unknown_file_that_unknown_is_not_safe(cli: Cli) -> None:
    cli("note", "About the store", "-f", "src/store.py")
    assert "not the same as safe" in cli("why", "README.md").stdout
    assert "not the same as safe" not in cli("why", "src/store.py").stdout


def test_why_follows_a_rename(cli: Cli) -> None:
    cli("note", "About the store", "-f", "src/store.py")
    subprocess.run(["git", "mv", "src/store.py", "src/shop.py"], cwd=cli.folder, check=True)
    commit(cli.folder, "Rename")
    text = cli("why", "src/shop.py").stdout
    assert "About the store" in text
    assert "formerly src/store.py" in text
    # Who still knows the old name is told the new one.
    assert cli("why", "src/store.py").stdout.startswith("src/store.py — now src/shop.py")


def test_search_finds_by_words_and_tells_what_holds_instead(cli: Cli) -> None:
    old = cli.record("decide", "Use WAL mode for the database")
    cli("note", "Staging is rebuilt on Mondays")
    assert "Use WAL mode" in cli("search", "wal", "mode").stdout
    cli("supersede", old, "Use a rollback journal for the database")
    text = cli("search", "wal", "mode").stdout
    assert "No longer holds:" in text
    assert "what holds instead:" in text
    assert "rollback journal" in text
    assert "Mondays" not in text


def test_search_filters_by_kind_standing_and_path(cli: Cli) -> None:
    cli("note", "The parser is slow", "-f", "src/store.py")
    gone = cli.record("decide", "The parser is written by hand")
    cli("retire", gone, "--why", "no longer")
    hits = lambda *args: {hit["title"] for hit in cli.json("search", "parser", *args)["hits"]}  # noqa: E731
    assert hits() == {"The parser is slow"}
    assert hits("--all") == {"The parser is slow", "The parser is written by hand"}
    assert hits("--standing", "retired") == {"The parser is written by hand"}
    assert hits("--kind", "decision") == set()
    assert hits("--path", "src") == {"The parser is slow"}
    assert hits("--path", "README.md") == set()


def test_words_of_a_search_are_never_syntax(cli: Cli) -> None:
    cli("note", "The C++ parser reads current.md")
    for words in (["C++"], ["current.md"], ["a AND (", "NEAR"], ['"'], ["-- parser"], ["*"], ["it's"]):
        cli("search", "--", *words)
    assert "C++" in cli("search", "C++").stdout


def test_the_timeline_is_newest_first_and_tags_what_does_not_hold(cli: Cli) -> None:
    first = cli.record("note", "The first")
    cli("note", "The second")
    cli("retire", first, "--why", "no longer")
    lines = cli("timeline").stdout.splitlines()
    assert ["second" in lines[0], "first" in lines[1]] == [True, True]
    assert "[retired]" in lines[1]
    assert "[" not in lines[0]


def test_the_timeline_takes_days_that_count_whole(cli: Cli) -> None:
    cli("note", "Today's")
    today = cli.json("timeline")[0]["at"][:10]
    count = lambda *args: len(cli.json("timeline", *args))  # noqa: E731
    assert (
        count("--since", today) == count("--until", today) == count("--as-of", today) == count("--known-at", today) == 1
    )
    assert count("--until", "2020-01-01") == count("--as-of", "2020-01-01") == count("--known-at", "2020-01-01") == 0
    assert count("--since", "2999-01-01") == 0


def test_a_limit_that_cuts_says_that_there_is_more(cli: Cli) -> None:
    for number in range(3):
        cli("note", f"Note number {number}")
    cut, whole = cli("timeline", "--limit", "2"), cli("timeline", "--limit", "3")
    assert (len(cut.stdout.splitlines()), "more" in cut.stderr) == (2, True)
    assert (len(whole.stdout.splitlines()), "more" in whole.stderr) == (3, False)


def test_the_case_shows_an_issue_with_all_that_belongs_to_it(cli: Cli) -> None:
    issue = cli.record("issue", "Login fails")
    for args in (["observe", issue, "only at night"], ["hypothesis", issue, "the clock"],
                 ["tried", "Restart it", "--failed", "came back", "--issue", issue]):  # fmt: skip
        cli(*args)
    text = cli("case", issue).stdout
    assert text.startswith(f"case {issue[-6:]}  open")
    assert [part in text for part in ("only at night", "the clock", "Restart it")] == [True] * 3
    cli("fixed", issue, "Set the clock")
    assert cli("case", issue).stdout.startswith(f"case {issue[-6:]}  closed")
    cli("note", "elsewhere")
    assert "lives elsewhere" in (cli("observe", "#717", "seen"), cli("case", "#717"))[1].stdout


def test_stale_entries_are_listed_with_their_reason_and_leave_the_brief(cli: Cli) -> None:
    id_ = cli.record("decide", "Save at once", "-f", "src/store.py#save")
    assert cli("stale").stdout == ""
    assert "Save at once" in cli("brief").stdout
    (cli.folder / "src" / "store.py").write_text(SOURCE.split("def save")[0], encoding="utf-8")
    text = cli("stale").stdout
    assert ("Save at once" in text, "stale: anchor" in text) == (True, True)
    brief = cli("brief").stdout
    assert ("Save at once" in brief, "1 withheld" in brief) == (False, True)
    cli("retire", id_, "--why", "gone")
    assert cli("stale").stdout == ""


def test_what_another_branch_recorded_is_counted_as_stale_and_named_by_an_empty_brief(cli: Cli) -> None:
    subprocess.run(["git", "checkout", "-q", "-b", "aside"], cwd=cli.folder, check=True)
    cli("decide", "Save at once", "-f", "src/store.py#save")
    commit(cli.folder, "Memory of the branch")
    subprocess.run(["git", "checkout", "-q", "main"], cwd=cli.folder, check=True)
    assert "Of other branches there are 1" in cli("brief").stderr
    (cli.folder / "src" / "store.py").write_text(SOURCE.split("def save")[0], encoding="utf-8")
    assert "Save at once" in cli("stale").stdout
    assert cli.json("status")["stale"] == 1


def test_conflicts_show_both_sides_and_a_call_that_works(cli: Cli) -> None:
    cli("decide", "Retry uploads", "-f", "src/store.py")
    assert cli("conflicts").stdout == ""
    cli("decide", "Never retry uploads", "-f", "src/store.py")
    text = cli("conflicts").stdout
    assert ("Retry uploads" in text, "Never retry uploads" in text) == (True, True)
    call = cli.json("conflicts")[0]["call"].split()
    assert cli.json("status")["conflicts"] == 1
    cli(*call[1:], code=4)
    cli(*call[1:], person=True)
    assert cli("conflicts").stdout == ""
    # What an agent did to a person's word is one more, and status counts what the list shows.
    kept = cli.record("decide", "Keep tabs", person=True)
    cli("supersede", kept, "Keep spaces")
    assert (len(cli.json("conflicts")), cli.json("status")["conflicts"]) == (1, 1)


def test_the_brief_is_fenced_and_explains_itself(cli: Cli) -> None:
    cli("decide", "Save at once", "--why", "power cuts", "-f", "src/store.py")
    cli("note", "Staging is rebuilt on Mondays")
    text = cli("brief", "--for", "src/store.py", "--explain").stdout
    fence, why = text.split("</project-memory>")
    assert fence.startswith('<project-memory project="shop"')
    assert "Save at once: power cuts" in fence
    assert "of 250 tokens" in why
    assert "cites a file of the working set" in why


def test_an_empty_brief_says_nothing_on_stdout(cli: Cli) -> None:
    empty = cli("brief")
    assert (empty.stdout, "nothing to say" in empty.stderr) == ("", True)
    cli("note", "Something")
    assert cli("brief").stdout != ""


def test_the_brief_keeps_the_budget_that_was_given(cli: Cli) -> None:
    for number in range(12):
        cli("note", f"Note number {number} about something quite different: {'word ' * number}")
    small, large = cli.json("brief", "--budget", "120"), cli.json("brief", "--budget", "600")
    assert small["tokens"] <= 120 < large["tokens"] <= 600
    assert small["left_out"] > large["left_out"]
    cli("hot", "src/store.py", "everything goes through it")
    cli("issue", "Login fails")
    for budget in ("60", "90", "120", "20000"):
        answer = cli.json("brief", "--budget", budget)
        assert len(answer["ids"]) + answer["left_out"] == 14


def test_status_counts_and_verify_agrees(cli: Cli) -> None:
    cli("note", "Something")
    cli("decide", "Use WAL mode")
    text = cli("status").stdout
    assert "2 (1 decision, 1 note)" in text
    assert "whole" in text
    assert "sound" in cli("verify").stdout


def test_a_damaged_log_is_said_beside_every_answer_and_fails_verify(cli: Cli) -> None:
    cli("note", "The first")
    cli("note", "The second")
    assert cli("timeline").stderr == ""
    shard = next((cli.folder / ".backstory" / "log").glob("*.jsonl"))
    shard.write_text(shard.read_text("utf-8").replace("The first", "The worst"), encoding="utf-8")
    for args in (["timeline"], ["search", "second"], ["brief"]):
        result = cli(*args)
        assert "run `backstory verify`" in result.stderr
        assert "second" in result.stdout
    report = cli("verify", code=5)
    assert f"log/{shard.name}:1" in report.stdout


def test_a_terminal_gets_colour_and_wrapped_lines_and_a_pipe_gets_neither(cli: Cli) -> None:
    cli("decide", "Use WAL mode", "--why", "so that readers go on while somebody writes, which is what happens all day")
    from .terminal import Seat

    seat = Seat(["timeline"], cli.folder, columns=60)
    code, text = seat.finish()
    assert code == 0
    assert "\x1b[1m" in seat.raw
    assert all(len(line) <= 60 for line in text.splitlines())
    assert len(text.splitlines()) > 1
    plain = cli("timeline").stdout
    assert ("\x1b" in plain, len(plain.splitlines())) == (False, 1)


def test_no_color_and_a_dumb_terminal_stay_plain(cli: Cli) -> None:
    from .terminal import Seat

    cli("note", "Something")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        seat = Seat(["timeline"], cli.folder, env=env)
        seat.finish()
        assert "\x1b[1m" not in seat.raw


def test_stored_text_cannot_move_the_cursor_or_begin_a_line(cli: Cli) -> None:
    hostile = "red \x1b[31m and \x9b2J and \r reversed"
    id_ = cli.record("note", "-", stdin=f"{hostile}\ndetail {hostile}\r\nnext".encode())
    for args in (["show", id_], ["timeline"], ["search", "reversed"], ["export"], ["brief"]):
        text = cli(*args).stdout
        assert "reversed" in text
        assert not any(mark in text for mark in ("\x1b", "\x9b", "\r"))
    turned = cli.record("note", "One \u202e turned")
    text = cli("show", turned).stdout
    assert ("turned" in text, "\u202e" in text) == (True, False)
    _, text = person(cli.folder, "show", id_, env={"NO_COLOR": "1"})
    assert "reversed" in text
