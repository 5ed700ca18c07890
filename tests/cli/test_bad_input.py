"""Each mistake gets one sentence, a next step that works and its exit code; nothing is lost and no traceback shows."""

import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from backstory.index.schema import VERSION
from backstory.surfaces.cli.main import group

from .conftest import Cli

Process = Callable[..., subprocess.CompletedProcess[str]]

# Arguments (ID stands for an entry), exit code, and words of the sentence.
MISTAKES = [
    (["show", "ZZZZZZ"], 2, "No entry has the id"),
    (["show", "xyz"], 2, "is no id"),
    (["retire", "ZZZZZZ", "--why", "x"], 2, "No entry has the id"),
    (["decide", "x", "--supersedes", "ZZZZZZ"], 2, "No entry has the id"),
    (["decide"], 2, "summary is empty"),
    (["decide", ""], 2, "summary is empty"),
    (["decide", "\u200b"], 2, "summary"),
    (["decide", "x" * 301], 4, "301 characters"),
    (["note", "x", "--detail", "y" * 4001], 4, "4,001 characters"),
    (["record", "wish", "x"], 2, "is no kind"),
    (["record"], 2, "needs a kind"),
    (["timeline", "--kind", "wish"], 2, "is no kind"),
    (["show", "--fields", "wish"], 2, "is no kind"),
    (["search", "x", "--standing", "gone"], 2, "gone"),
    (["search", " "], 2, "no words to search for"),
    (["note", "x", "-f", "../outside"], 4, "outside the project"),
    (["note", "x", "-f", "/etc/passwd"], 4, "outside the project"),
    (["note", "x", "-f", "src/store.py:900"], 2, "is not a place in it"),
    (["note", "x", "-f", "src/no-such.py:9"], 2, "There is no file src/no-such.py"),
    (["note", "x", "-f", "src/no-such.py#save"], 2, "There is no file src/no-such.py"),
    (["note", "x", "-f", "src/store.py#nothing"], 2, "defines no"),
    (["why", "../outside"], 4, "outside the project"),
    (["brief", "--for", "/etc"], 4, "outside the project"),
    (["search", "x", "--path", "../outside"], 4, "outside the project"),
    (["timeline", "--since", "yesterday"], 2, "no day and no instant"),
    (["note", "x", "--valid-until", "2026-11-30T10:00"], 2, "no day and no instant"),
    (["note", "x", "--decay-days", "0"], 2, "0 is not in the range"),
    (["timeline", "--limit", "many"], 2, "whole number"),
    (["case", "#1"], 2, "Nothing is recorded about"),
    (["tried", "x", "--worked", "--failed", "y"], 2, "ends in one way"),
    (["tried", "x", "--worked", "--partial"], 2, "ends in one way"),
    (["confirm"], 2, "Missing argument"),
    (["frobnicate"], 2, "no command"),
    (["serch", "x"], 2, "no command"),
    (["note", "x", "--wyh", "y"], 2, "No such option"),
    (["import", "missing.jsonl"], 2, "cannot be read"),
    (["export", "--format", "yaml"], 2, "yaml"),
    (["completion", "tcsh"], 2, "tcsh"),
    (["approve", "ID"], 4, "only a person"),
    (["retire", "ID"], 2, "needs a reason"),
    (["publish", "ID"], 4, "in this tree already"),
    (["publish", "ID", "--all"], 2, "not both"),
]


@pytest.mark.parametrize(("args", "code", "words"), MISTAKES, ids=lambda value: str(value)[:40])
def test_a_mistake_gets_a_sentence_a_hint_and_its_code_and_writes_nothing(
    args: list[str], code: int, words: str, cli: Cli
) -> None:
    id_ = cli.record("note", "Something that is there")
    given = [id_ if arg == "ID" else arg for arg in args]
    result = cli(*given, code=code)
    first, *rest = result.stderr.splitlines()
    assert first.startswith("backstory: ")
    assert words in first
    assert first.rstrip().endswith((".", "?", ":", ")"))
    assert any(line.startswith("  ") for line in rest)
    assert result.stdout == ""
    as_json = json.loads(cli(*given, "--json", code=code).stderr) if args[0] not in ("completion",) else None
    if as_json is not None:
        assert as_json["error"]["code"] == code
        assert words in as_json["error"]["message"]
    assert len(cli.json("timeline")) == 1


def test_an_ambiguous_id_lists_what_it_could_mean(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backstory.records.ids.os.urandom", lambda count: b"\0" * count)
    monkeypatch.setattr("backstory.project.opened.time.time_ns", lambda: 1_900_000_000_000_000_000)
    cli("note", "The first")
    monkeypatch.setattr("backstory.project.opened.time.time_ns", lambda: 1_900_000_009_000_000_000)
    cli("note", "The second")
    result = cli("show", "000000", code=2)
    assert "names 2 entries" in result.stderr
    assert ("The first" in result.stderr, "The second" in result.stderr) == (True, True)
    whole = re.search(r"([0-9A-Z]{26})  The second", result.stderr)
    assert whole is not None
    assert "The second" in cli("show", whole[1]).stdout


@pytest.mark.parametrize(
    ("stdin", "code", "words"),
    [
        (b"a" * 20_000_000, 4, "longer than 1 MiB"),
        (b"a" * 5_000, 4, "5,000 characters"),
        (b"a\0b", 2, "NUL bytes"),
        (b"\xff\xfe\xff", 2, "not UTF-8"),
        (b"  \n ", 2, "no text on stdin"),
    ],
    ids=["20 MB", "too long", "NUL", "no UTF-8", "blank"],
)
def test_text_on_stdin_that_is_none_is_refused(stdin: bytes, code: int, words: str, cli: Cli, process: Process) -> None:
    done = process(cli.folder, "note", "-", stdin=stdin)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert process(cli.folder, "note", "-", stdin="\ufeffgood text".encode()).returncode == 0
    assert [item["summary"] for item in cli.json("timeline")] == ["good text"]


def test_no_project_names_the_command_that_makes_one(tmp_path: Path, process: Process) -> None:
    done = process(tmp_path, "timeline")
    assert done.returncode == 3
    hint = re.findall(r"`backstory ([^`]+)`", done.stderr)[0]
    assert process(tmp_path, *hint.split()).returncode == 0
    assert process(tmp_path, "timeline").returncode == 0


def test_the_home_folder_and_the_root_are_no_project(tmp_path: Path, isolated: Path, process: Process) -> None:
    for folder in (isolated, Path("/")):
        assert process(folder, "timeline").returncode == 3
        refused = process(folder, "init")
        assert refused.returncode == 4
        assert "no project" in refused.stderr
        assert not (folder / ".backstory").exists()
    assert process(tmp_path, "init").returncode == 0


def test_a_folder_above_several_projects_lists_them(tmp_path: Path, process: Process) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert process(tmp_path / name, "init").returncode == 0
    done = process(tmp_path, "timeline")
    assert done.returncode == 3
    named = re.findall(rf"{re.escape(str(tmp_path.resolve()))}/\w+", done.stderr)
    assert [Path(path).name for path in named] == ["one", "two"]
    assert process(tmp_path, "timeline", "--project", named[0]).returncode == 0
    assert process(tmp_path, "init").returncode == 4


def test_a_folder_that_does_not_exist_is_said(cli: Cli) -> None:
    for args in (["init"], ["timeline"], ["note", "Something"]):
        assert "does not exist" in cli(*args, "--project", str(cli.folder / "missing"), code=2).stderr
    assert "is no folder" in cli("init", str(cli.folder / "missing"), code=2).stderr
    assert cli.json("timeline") == []


def test_a_folder_without_git_is_not_told_to_add_to_it(tmp_path: Path, process: Process) -> None:
    done = process(tmp_path, "init")
    assert ("Next:" in done.stdout, "git add" in done.stdout) == (True, False)


def test_a_current_folder_that_was_deleted_is_said(cli: Cli) -> None:
    gone = cli.folder / "gone"
    gone.mkdir()
    with cli.monkeypatch.context() as patch:
        patch.chdir(gone)
        gone.rmdir()
        result = CliRunner().invoke(group, ["timeline"])
    assert (result.exit_code, "no longer exists" in result.stderr) == (2, True)
    cli("timeline")


def writable(folder: Path, yes: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        mode = path.stat().st_mode
        path.chmod(mode | stat.S_IWUSR if yes else mode & ~0o222)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of Unix")
def test_a_read_only_folder_answers_and_refuses_to_write(cli: Cli) -> None:
    cli("note", "Something")
    prefix = [sys.executable]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write anywhere, and setpriv is not here")
        lost = "-dac_override,-dac_read_search,-fowner"
        prefix = ["setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}", sys.executable]

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*prefix, "-m", "backstory", *args], cwd=cli.folder, capture_output=True, text=True, check=False
        )

    writable(cli.folder, False)
    try:
        read, written = run("timeline"), run("note", "Another")
    finally:
        writable(cli.folder, True)
    assert (read.returncode, "Something" in read.stdout) == (0, True)
    assert (written.returncode, "writable" in written.stderr) == (4, True)
    assert "Traceback" not in read.stderr + written.stderr
    assert run("note", "Another").returncode == 0
    assert [item["summary"] for item in cli.json("timeline")] == ["Another", "Something"]


def test_an_index_of_a_future_version_is_rebuilt_with_one_line(cli: Cli) -> None:
    cli("note", "Something")
    path = cli.folder / ".git" / "backstory" / "index.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    result = cli("timeline")
    assert "Something" in result.stdout
    said = f"backstory: version 999 of the index, this is {VERSION}; rebuilt from the log"
    assert result.stderr.splitlines() == [said]
    assert cli("timeline").stderr == ""


def test_the_log_of_another_project_is_reported_and_shown_by_nobody(cli: Cli, tmp_path: Path) -> None:
    cli("note", "Of the shop")
    folder = tmp_path / "other"
    folder.mkdir()
    other = Cli(folder, cli.monkeypatch)
    other("init")
    other("note", "Of the other one")
    shutil.copytree(cli.folder / ".backstory" / "log", folder / ".backstory" / "log", dirs_exist_ok=True)
    result = other("timeline")
    assert ("Of the other one" in result.stdout, "Of the shop" in result.stdout) == (True, False)
    assert "run `backstory verify`" in result.stderr
    report = other("verify", code=5)
    assert "another project" in report.stdout
    other("note", "Work goes on")


def test_settings_in_conflict_say_so_and_the_hint_heals_them(cli: Cli) -> None:
    marker = cli.folder / ".backstory" / "project.toml"
    good = marker.read_text("utf-8")
    marker.write_text(f"<<<<<<< HEAD\n{good}=======\n{good}>>>>>>> other\n", encoding="utf-8")
    result = cli("timeline", code=5)
    assert "cannot be read as settings" in result.stderr
    assert "`backstory doctor --fix`" in result.stderr
    cli("doctor", "--fix")
    cli("timeline")
    assert good.split('id = "')[1][:26] in marker.read_text("utf-8")


def test_the_hint_for_a_misspelt_command_names_the_nearest(cli: Cli) -> None:
    assert "`backstory search`" in cli("serch", code=2).stderr
    assert "`backstory --help`" in cli("xyzzy", code=2).stderr
