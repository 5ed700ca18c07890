import json
from pathlib import Path

import pytest

from .conftest import Cli
from .terminal import person

# A command, and the fields that its entry must then have.
SHAPES = [
    (
        ["decide", "Use WAL mode", "--why", "reads go on", "--rejected", "rollback journal",
         "--rejected", "none: slow"],
        {"kind": "decision", "rationale": "reads go on",
         "alternatives_rejected": ["rollback journal", "none: slow"]},
    ),
    (["tried", "Map the file", "--failed", "crash on NFS"],
     {"kind": "trial", "outcome": "failed", "failure_mode": "crash on NFS"}),
    (["tried", "Pool of eight", "--worked", "--command", "make bench"],
     {"kind": "trial", "outcome": "worked", "command": "make bench"}),
    (["attempt", "Pool of four", "--partial", "--failed", "slow at night"],
     {"kind": "trial", "outcome": "partial", "failure_mode": "slow at night"}),
    (["pattern", "Errors carry a hint", "--example", "raise AppError(hint)", "--description", "each of them"],
     {"kind": "pattern", "examples": ["raise AppError(hint)"], "description": "each of them"}),
    (["hot", "src/store.py", "everything", "goes", "through", "it"],
     {"kind": "hotfile", "path": "src/store.py", "summary": "everything goes through it"}),
    (["issue", "Login fails", "--location", "auth"], {"kind": "issue", "location": "auth"}),
    (["observe", "#717", "only at night"], {"kind": "issuenote", "issue": "#717"}),
    (["hypothesis", "#717", "the clock drifts"], {"kind": "hypothesis", "issue": "#717"}),
    (["fixed", "#717", "use the server clock", "--location", "src/store.py"],
     {"kind": "fix", "issue": "#717", "location": "src/store.py"}),
    (["observe", "only", "at noon", "--issue", "#717"],
     {"kind": "issuenote", "issue": "#717", "summary": "only at noon"}),
    (["lesson", "Unions validate twice", "--library", "pydantic@>=2"],
     {"kind": "lesson", "libraries": ["pydantic@>=2"]}),
    (["note", "Staging is rebuilt on Mondays"], {"kind": "note"}),
    (["record", "attempt", "Pool of two", "--worked"], {"kind": "trial", "outcome": "worked"}),
    (["record", "hot_file", "src/store.py", "it bites"], {"kind": "hotfile", "path": "src/store.py"}),
]  # fmt: skip


@pytest.mark.parametrize(("args", "fields"), SHAPES, ids=lambda value: " ".join(value)[:30] if value else "")
def test_each_recording_command_writes_an_entry_of_its_kind(
    args: list[str], fields: dict[str, object], cli: Cli
) -> None:
    entry = cli.json("show", cli.record(*args))["entry"]
    assert {name: {**entry["fields"], **entry}.get(name) for name in fields} == fields
    assert entry["standing"] == "active"


def test_the_common_fields_arrive(cli: Cli) -> None:
    day = "2027-01-31"
    id_ = cli.record(
        "decide", "Keep tabs", "--detail", "more", "--alias", "indentation", "--ticket", "T-1", "--scope", "src",
        "--valid-until", day, "--decay-days", "7", "--revisit-when", "after the release", "--evidence", "the chat",
        "-f", "src/store.py:1-3", "--file", "src/store.py#save",
    )  # fmt: skip
    entry = cli.json("show", id_)["entry"]
    fields = entry["fields"]
    assert entry["files"] == ["src/store.py:1-3", "src/store.py#save"]
    assert (fields["detail"], fields["aliases"], fields["scope"]) == ("more", ["indentation"], "src")
    assert fields["valid_until"].startswith(day)
    assert (fields["decay_days"], fields["revisit_when"]) == (7, "after the release")
    assert {"ticket T-1", "the chat"} <= set(entry["evidence"])


def test_recording_says_in_one_line_what_was_recorded(cli: Cli) -> None:
    lines = cli("note", "Staging is rebuilt on Mondays").stdout.splitlines()
    short = cli.json("timeline")[0]["short"]
    assert lines == [f"Recorded note {short} (active): Staging is rebuilt on Mondays"]


def test_a_dash_reads_the_summary_and_the_detail_from_stdin(cli: Cli) -> None:
    id_ = cli.record("note", "-", stdin="The first line\n\nand the rest\nof it\n")
    fields = cli.json("show", id_)["entry"]["fields"]
    assert (fields["summary"], fields["detail"]) == ("The first line", "and the rest\nof it")


def test_a_relative_path_begins_where_the_command_is_run(cli: Cli) -> None:
    inside = Cli(cli.folder / "src", cli.monkeypatch)
    id_ = inside.record("note", "About the store", "-f", "store.py")
    assert cli.json("show", id_)["entry"]["files"] == ["src/store.py"]


def test_a_path_begins_at_the_project_when_the_caller_stands_outside(cli: Cli, tmp_path: Path) -> None:
    outside = Cli(tmp_path, cli.monkeypatch)
    id_ = outside.record("note", "About the store", "-f", "src/store.py", "--project", str(cli.folder))
    assert cli.json("show", id_)["entry"]["files"] == ["src/store.py"]


def test_a_clash_is_shown_with_both_sides_and_the_call_that_settles_it(cli: Cli) -> None:
    old = cli.record("decide", "Retry uploads", "-f", "src/store.py")
    text = cli("decide", "Never retry uploads", "-f", "src/store.py").stdout
    new = cli.json("timeline")[0]["id"]
    assert "Clashes with decision" in text
    assert "there: Retry uploads" in text
    assert "here:  Never retry uploads" in text
    call = f"backstory supersede {old} --by {new}"
    assert call in text
    cli(*call.split()[1:])
    assert cli.standing(old) == "superseded"


def test_saying_it_again_confirms_instead_of_adding(cli: Cli) -> None:
    first = cli.json("note", "Staging is rebuilt on Mondays")
    again = cli.json("note", "staging is rebuilt on mondays.")
    assert (again["status"], again["id"]) == ("corroborated", first["id"])
    assert len(cli.json("timeline")) == 1


def test_a_secret_is_taken_out_and_the_outcome_says_so(cli: Cli) -> None:
    outcome = cli.json("note", "Log in with password=hunter2hunter2 on staging")
    text = cli("show", outcome["id"]).stdout
    assert outcome["redacted"]
    assert "hunter2hunter2" not in text
    assert "staging" in text


def test_a_case_is_closed_once_and_the_refusal_names_the_fix(cli: Cli) -> None:
    issue = cli.record("issue", "Login fails")
    fix = cli.record("fixed", issue, "Use the server clock")
    assert cli.json("case", issue)["status"] == "closed"
    refused = cli("fixed", issue, "Turn the clock off", code=4)
    assert fix in refused.stderr
    assert cli.json("fixed", issue, "use the server clock")["status"] == "corroborated"
    hint = refused.stderr.split("`")[1].replace('"text"', "").split()
    replaced = cli.json(*hint[1:], "Turn the clock off")
    assert replaced["standing"] == "active"
    assert [item["id"] for item in cli.json("case", issue)["entries"] if item["standing"] == "active"] == [
        replaced["id"]
    ]


def test_an_agent_may_not_pin_and_a_person_may(cli: Cli) -> None:
    cli("note", "Read the manual", "--pin", code=4)
    assert cli.json("timeline") == []
    id_ = cli.record("note", "Read the manual", "--pin", person=True)
    assert cli.json("show", id_)["entry"]["fields"]["pinned"] is True


def test_who_writes_is_a_person_only_at_a_terminal_without_an_agent(cli: Cli) -> None:
    code, text = person(cli.folder, "note", "Written at a terminal")
    assert (code, "(confirmed)" in text) == (0, True)
    code, text = person(cli.folder, "note", "Written in an agent's terminal", env={"CLAUDECODE": "1"})
    assert (code, "(active)" in text) == (0, True)
    writers = {item["summary"]: item["by"] for item in cli.json("timeline")}
    assert writers["Written at a terminal"] == {"kind": "person", "name": "Test Person"}
    assert writers["Written in an agent's terminal"]["kind"] == "agent"


def test_a_commit_is_kept_by_its_full_id_and_an_unknown_name_is_refused(cli: Cli) -> None:
    id_ = cli.record("note", "At the head", "--commit", "HEAD")
    commit = cli.json("show", id_)["entry"]["fields"]["commit"]
    assert len(commit) == 40
    short = cli.record("note", "By a short id", "--commit", commit[:8])
    assert cli.json("show", short)["entry"]["fields"]["commit"] == commit
    assert "no commit" in cli("note", "By a wrong name", "--commit", "no-such-branch", code=2).stderr


def test_an_observation_about_what_is_no_issue_is_refused(cli: Cli) -> None:
    decision = cli.record("decide", "Use WAL mode")
    issue = cli.record("issue", "Login fails")
    assert "no issue" in cli("observe", decision, "it is slow", code=2).stderr
    assert "on issue" in cli("observe", issue, "it is slow").stdout
    assert "outside issue #717" in cli("observe", "#717", "it is slow").stdout
    assert "Name the issue first" in cli("observe", "it is slow", code=2).stderr


def test_the_outcome_in_json_is_the_gateways(cli: Cli) -> None:
    body = json.loads(cli("decide", "Use WAL mode", "--json").stdout)
    assert body["command"] == "decide"
    assert {"status", "id", "kind", "standing", "redacted", "clashes", "notes", "calls"} == set(body["data"])
