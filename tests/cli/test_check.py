"""`backstory check` and `backstory snooze` from the shell."""

import subprocess

import pytest

from .conftest import Cli


def test_the_exit_code_says_whether_something_was_found(cli: Cli) -> None:
    cli("tried", "Load the whole file twice", "--failed", "out of memory", "-f", "src/store.py")
    assert "Failed trial" in cli("check", "src/store.py").stdout
    cli("check", "src/store.py", "--level", "info", code=1)
    found = cli("check", "src/store.py", "--intent", "load the whole file twice", code=1)
    assert "This was tried and failed because out of memory" in found.stdout
    cli("check", "src/store.py", "--intent", "load the whole file twice", "--level", "block")


def test_staged_working_and_diff(cli: Cli) -> None:
    cli("decide", "Files are read whole", "-f", "src/store.py")
    assert "Nothing is about to change" in cli("check", "--staged").stdout
    (cli.folder / "src" / "store.py").write_text("changed = True\n", encoding="utf-8")
    assert "Files are read whole" in cli("check").stdout
    assert "Files are read whole" in cli("check", "--working").stdout
    diff = "--- a/src/store.py\n+++ b/src/store.py\n@@ -1 +1 @@\n-x\n+y\n"
    assert "Files are read whole" in cli("check", "--diff", "-", stdin=diff).stdout
    assert "cannot be read" in cli("check", "--diff", "nowhere.diff", code=2).stderr
    assert "Only one of" in cli("check", "--staged", "--working", code=2).stderr


def test_nothing_known_is_said_and_many_unknown_files_are_one_line(cli: Cli) -> None:
    assert cli("check", "src/new.py").stdout == "Nothing is known about src/new.py.\n"
    names = [f"src/new{number}.py" for number in range(9)]
    text = cli("check", *names).stdout
    assert text.count("\n") == 4 and "6 other files" in text


def test_what_is_no_diff_is_refused_and_an_empty_one_is_not(cli: Cli) -> None:
    assert "no unified diff" in cli("check", "--diff", "-", stdin="hello\n", code=2).stderr
    assert "Nothing is about to change" in cli("check", "--diff", "-", stdin="").stdout


def test_the_files_of_the_memory_itself_are_not_called_unknown(cli: Cli) -> None:
    cli("decide", "Files are read whole", "-f", "src/store.py")
    (cli.folder / "new.py").write_text("new = True\n", encoding="utf-8")
    assert cli("check").stdout == "Nothing is known about new.py.\n"


def test_a_tag_is_shown_once(cli: Cli) -> None:
    cli("tried", "Load the whole file twice", "--failed", "out of memory", "-f", "src/store.py")
    next((cli.folder / ".backstory" / "log").glob("*.jsonl")).unlink()
    assert cli("check", "src/store.py").stdout.count("not in this tree") == 1


def test_a_path_outside_is_refused(cli: Cli) -> None:
    assert "outside the project" in cli("check", "../elsewhere.py", code=4).stderr


def test_json_has_the_findings(cli: Cli) -> None:
    id_ = cli.record("decide", "Files are read whole", "-f", "src/store.py")
    data = cli.json("check", "src/store.py")
    assert [one["id"] for one in data["findings"]] == [id_] and data["worst"] == "info"


def test_a_damaged_log_has_an_exit_code_of_its_own(cli: Cli) -> None:
    cli("decide", "Files are read whole", "-f", "src/store.py")
    cli("decide", "Files are written whole", "-f", "src/store.py")
    shard = next((cli.folder / ".backstory" / "log").glob("*.jsonl"))
    shard.write_bytes(shard.read_bytes().replace(b"written whole", b"written twice"))
    found = cli("check", "src/store.py", code=5)
    assert "Files are read whole" in found.stdout and found.stderr.count("backstory verify") == 1


def test_a_branch_in_continuous_integration(cli: Cli) -> None:
    cli("decide", "Files are read whole", "-f", "src/store.py#load")
    (cli.folder / "src" / "store.py").write_text("nothing = 1\n", encoding="utf-8")
    for words in (["add", "-A"], ["commit", "-q", "-m", "Away with it"]):
        subprocess.run(["git", *words], cwd=cli.folder, check=True, stdin=subprocess.DEVNULL)
    report = cli.folder / "comment.md"
    found = cli("check", "--ci", "--since", "HEAD~1", "--markdown", str(report), code=1)
    assert "Files are read whole" in found.stdout and "Files are read whole" in report.read_text(encoding="utf-8")
    assert cli.json("check", "--ci", "--level", "block")["worst"] == "warn"
    assert "takes neither paths" in cli("check", "--ci", "src/store.py", code=2).stderr
    assert "with --ci only" in cli("check", "--sarif", "x.sarif", code=2).stderr


def test_a_change_is_not_checked_in_silence_against_a_history_that_was_never_read(cli: Cli) -> None:
    (cli.folder / "src" / "store.py").write_text("changed = True\n", encoding="utf-8")
    assert "`backstory history refresh`" in cli("check").stderr
    cli("history", "refresh")
    assert cli("check").stderr == ""


def test_snoozing_from_the_shell(cli: Cli) -> None:
    id_ = cli.record("decide", "Files are read whole", "-f", "src/store.py")
    assert "only a person" in cli("snooze", id_, code=4).stderr
    assert cli("snooze", person=True).stdout == "Nothing is snoozed.\n"
    said = cli("snooze", id_, "--for", "1d", "--why", "rewriting it", person=True).stdout
    assert "quiet for" in said and "rewriting it" in said
    assert "is snoozed until" in cli("check", "src/store.py").stdout
    assert "Files are read whole" in cli("snooze", person=True).stdout
    assert "warns again" in cli("snooze", id_, "--off", person=True).stdout
    assert cli("check", "src/store.py").stdout.startswith("info")


@pytest.mark.parametrize("alias", ["precheck"])
def test_other_names_lead_here(cli: Cli, alias: str) -> None:
    assert "Nothing is known" in cli(alias, "src/new.py").stdout
