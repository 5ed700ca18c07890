"""`ticket` and `run` on the command line: what is said, in text and in JSON, and how things are refused."""

import json
import subprocess
from pathlib import Path

import pytest

from backstory.project.setup import init

from .conftest import Cli

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def test_a_ticket_is_written_worked_on_and_shown(cli: Cli) -> None:
    said = cli(
        "ticket", "new", "Retry", "the", "upload", "--goal", "None is lost", "--kind", "bug", "--priority", "high",
        "--touches", "src/store.py", "--acceptance", "ten tries",
    ).stdout.splitlines()  # fmt: skip
    assert said[0] == "Wrote ticket retry-the-upload (open): Retry the upload"
    assert said[1:] == [
        "  tickets/retry-the-upload.md",
        "  when work on it begins: `backstory run start retry-the-upload`",
    ]
    assert cli("ticket", "list").stdout == "retry-the-upload  open  bug  high  Retry the upload\n"
    begun = cli("run", "start", "retry-the-upload", "--predict-files", "1", "--complexity", "low").stdout
    assert begun.startswith("Started the run of retry-the-upload: tickets/retry-the-upload.run.md\n")
    (cli.folder / "src" / "store.py").write_text("changed\n", encoding="utf-8")
    cli("decide", "Retry five times", "--ticket", "retry-the-upload")
    ended = cli("run", "finish", "retry-the-upload", "--outcome", "done", "--dead-ends", "A lock file").stdout
    assert "actual_files          1 (src/store.py)" in ended
    shown = cli("ticket", "show", "retry").stdout
    for text in (
        "ticket retry-the-upload  open, bug, high", "goal\n  None is lost", "acceptance\n  - ten tries", "src/store.py",
        "0 minutes, 1 file (1 predicted)", "dead ends\n       A lock file", "Retry five times",
    ):  # fmt: skip
        assert text in shown
    assert cli("ticket", "list").stdout.endswith("Retry the upload [1 run, last done]\n")


def test_the_next_step_that_is_printed_works_for_names_with_quotes_and_spaces(cli: Cli, process) -> None:  # type: ignore[no-untyped-def]
    for stem in ("Ada's own ticket", "アップロード", "plain", "a $(touch oops) `touch oops`; b & c"):
        said = cli("ticket", "new", "Anything", "--stem", stem).stdout
        step = said.rpartition("begins: `")[2].strip().removesuffix("`")
        done = subprocess.run(
            ["bash", "-c", step.replace("backstory ", 'python -m backstory ', 1)],
            cwd=cli.folder, capture_output=True, text=True, check=False, env=_env(),
        )  # fmt: skip
        assert done.returncode == 0, (step, done.stderr)
        assert f"the run of {stem}:" in done.stdout
    assert not (cli.folder / "oops").exists()


def _env() -> dict[str, str]:
    import os
    import sys

    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_the_title_is_the_first_line_of_stdin_and_the_rest_the_goal(cli: Cli) -> None:
    data = cli.json("ticket", "new", "-", "--goal", "First this", stdin="Do it\n\nThen that\n")
    assert data["title"] == "Do it"
    assert cli.json("ticket", "show", "do-it")["texts"]["goal"] == "First this\n\nThen that"


def test_json_says_what_was_written_and_what_became_of_a_run(cli: Cli) -> None:
    data = cli.json("ticket", "new", f"Drop {SECRET}", "--depends-on", "none", "--stem", "drop")
    assert (data["stem"], data["path"], data["id"]) == ("drop", "tickets/drop.md", "")
    assert data["redacted"] and data["notes"] == ["it depends on none, which is no ticket here: kept as written"]
    assert SECRET not in json.dumps(data)
    assert cli.json("run", "start", "drop")["status"] == "started"
    assert cli.json("run", "start", "drop")["status"] == "open"
    done = cli.json("run", "finish", "drop", "--tokens-in", "5", "--review-iterations", "0")
    assert (done["status"], done["fields"]["tokens_in"], done["fields"]["review_iterations"]) == ("finished", 5, 0)
    assert (done["files"], done["outcome_known"]) == ([], False)
    assert cli.json("run", "finish", "drop", "--tokens-in", "5")["status"] == "unchanged"
    [line] = cli.json("ticket", "list")
    assert (line["runs"], line["open"], line["created_at"][-1]) == (1, True, "Z")


def test_what_is_left_empty_is_said_with_the_step_that_fills_it(cli: Cli) -> None:
    cli("ticket", "new", "Do it")
    cli("run", "start", "do-it")
    assert "how did it end? `backstory run finish do-it --outcome WORD`" in cli("run", "finish", "do-it").stdout
    again = cli("run", "finish", "do-it").stdout
    assert again.startswith("Nothing changed in the run of do-it") and "`backstory run start do-it`" in again
    assert "  outcome               done\n" in cli("run", "finish", "do-it", "--outcome", "done").stdout
    assert "stands there already" in cli("run", "finish", "do-it", "--outcome", "failed").stdout
    assert cli("run", "start", "do-it").stdout.startswith("Started attempt 2 of do-it: tickets/do-it/attempts/2/run.md")


def test_nothing_is_ever_asked(process, cli: Cli) -> None:  # type: ignore[no-untyped-def]
    for args in (["ticket", "new", "Do it"], ["run", "start", "do-it"], ["run", "finish", "do-it"]):
        done = process(cli.folder, *args)
        assert done.returncode == 0, done.stderr
    assert process(cli.folder, "ticket", "new").returncode == 2


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["ticket", "show", "nobody"], 2, "There is no ticket 'nobody'."),
        (["run", "start", "nobody"], 2, "There is no ticket 'nobody'."),
        (["run", "finish", "../../etc/passwd"], 2, "There is no ticket"),
        (["ticket", "new", "A", "--folder", "../out"], 4, "is outside the project"),
        (["ticket", "new", "A", "--folder", "src"], 4, "would not be read"),
        (["ticket", "new", "A", "--folder", ".git"], 4, "not for tickets"),
        (["ticket", "new", "A", "--stem", "../out"], 2, "cannot be the stem"),
        (["ticket", "new", "A", "--stem", "kept"], 4, "is the name of another ticket"),
        (["ticket", "new", "A", "--touches", "/etc/passwd"], 4, "is outside the project"),
        (["ticket", "new", "  "], 2, "needs a title"),
        (["run", "finish", "kept", "--tokens-in", "many"], 2, "whole number"),
        (["run", "start", "kept", "--predict-files", "-1"], 2, "-1"),
    ],
)
def test_a_refusal_says_why_and_what_helps_in_text_and_in_json(
    cli: Cli, args: list[str], code: int, words: str
) -> None:
    cli("ticket", "new", "Kept")
    before = sorted(path for path in cli.folder.rglob("*") if ".git" not in path.parts)
    said = cli(*args, code=code).stderr.splitlines()
    assert words in said[0] and len(said) == 2, said
    error = json.loads(cli(*args, "--json", code=code).stderr)["error"]
    assert words in error["message"] and error["hint"] and error["code"] == code
    assert sorted(path for path in cli.folder.rglob("*") if ".git" not in path.parts) == before


def test_an_empty_list_says_how_to_begin(cli: Cli) -> None:
    said = cli("ticket", "list")
    assert (said.stdout, said.stderr) == ("", 'There is no ticket; `backstory ticket new "TITLE"` writes one.\n')
    cli("ticket", "new", "A", "--state", "done")
    assert cli("ticket", "list", "--open").stderr == "There is no such ticket.\n"


def test_a_list_is_cut_at_its_limit_and_says_what_was_left_out(cli: Cli) -> None:
    for number in range(3):
        cli("ticket", "new", f"Number {number}")
    (cli.folder / "tickets" / "binary.md").write_bytes(b"\0")
    said = cli("ticket", "list", "--limit", "2")
    assert len(said.stdout.splitlines()) == 2
    assert said.stderr.splitlines() == [
        "There is more than these 2, 3 in all; `--limit N` shows it.",
        "1 file was left out: tickets/binary.md: no text: it holds a NUL",
    ]
    assert len(cli.json("ticket", "list", "--limit", "2")) == 2


def test_columns_are_aligned_and_what_a_ticket_holds_cannot_act_on_the_terminal(cli: Cli) -> None:
    cli("ticket", "new", "Long name of a ticket", "--kind", "bug")
    cli("ticket", "new", "日本", "--kind", "feature")
    evil = cli.folder / "tickets" / "evil.md"
    evil.write_text('---\ntitle: "a\\e[31mb\\u202e"\nstate: "x\\ny"\n---\n## Goal\n\x1b[2Jgone\n', encoding="utf-8")
    lines = cli("ticket", "list").stdout.splitlines()
    assert [line.rstrip() for line in lines] == [
        "evil                   x y            a[31mb",
        "long-name-of-a-ticket  open  bug      Long name of a ticket",
        "日本                   open  feature  日本",
    ]
    shown = cli("ticket", "show", "evil").stdout
    assert "\x1b" not in shown and "\u202e" not in shown and "[2Jgone" in shown


def test_without_git_the_commands_work_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plain folder"
    (folder / "sub").mkdir(parents=True)
    init(str(folder), now=1)
    cli = Cli(folder / "sub", monkeypatch)
    assert cli.json("ticket", "new", "A", "--touches", "x.py")["path"] == "tickets/a.md"
    assert cli.json("ticket", "show", "../tickets/a.md")["ticket"]["touches"] == ["sub/x.py"]
    assert "no git here" in cli("run", "start", "a").stdout
    assert "actual_files stays empty" in cli("run", "finish", "a").stdout


def test_the_hint_for_a_folder_that_is_not_read_works_as_it_is_printed(cli: Cli) -> None:
    hint = cli("ticket", "new", "A", "--folder", "src", code=4).stderr.splitlines()[1]
    line = hint.partition("with `")[2].rpartition("`")[0]
    settings = cli.folder / ".backstory" / "project.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + f"\n[history]\n{line}\n", encoding="utf-8")
    assert cli.json("ticket", "new", "A", "--folder", "src")["path"] == "src/a.md"
    assert cli.json("ticket", "new", "B", "--folder", "tickets")["path"] == "tickets/b.md"
    assert [item["stem"] for item in cli.json("ticket", "list")] == ["a", "b"]


def test_places_named_in_the_settings_are_used_and_read(cli: Cli) -> None:
    settings = cli.folder / ".backstory" / "project.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + '\n[history]\ntickets = ["work/*"]\n', encoding="utf-8")
    (cli.folder / "work" / "todo").mkdir(parents=True)
    said = cli.json("ticket", "new", "A")
    assert said["path"] == "work/a.md"
    assert [line["stem"] for line in cli.json("ticket", "list")] == ["a"]
    assert cli.json("ticket", "new", "B", "--folder", "work/todo")["path"] == "work/todo/b.md"
