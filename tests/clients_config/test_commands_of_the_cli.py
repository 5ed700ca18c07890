"""`backstory install` and `uninstall` as somebody types them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Seat

from .conftest import Tree, tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of Unix")


class Shop:
    """A project with a memory, and a home folder in which nothing but git's settings is."""

    def __init__(self, repo: Path, home: Path) -> None:
        self.repo, self.home = repo, home
        # Programs of this machine shall not decide which clients are found.
        self.env = {**os.environ, "PATH": f"{home}/bin:/usr/bin:/bin"}
        self("init")

    def __call__(self, *args: str, code: int = 0, cwd: Path | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *args],
            cwd=cwd or self.repo, env=self.env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def json(self, *args: str, code: int = 0) -> Any:
        body = json.loads(self(*args, "--json", code=code))
        assert (body["backstory"], body["command"]) == (1, args[0])
        return body["data"]

    def person(self, *args: str) -> Seat:
        return Seat(args, self.repo, env=self.env)


@pytest.fixture
def shop(repo: Path, isolated: Path) -> Shop:
    return Shop(repo, isolated)


def test_without_a_terminal_and_without_yes_it_only_shows_what_it_would_do(shop: Shop) -> None:
    before = tree(shop.repo)
    text = shop("install", "claude-code")
    assert ".mcp.json would create (claude-code)" in text and '+    "backstory": {' in text
    assert "Nothing was changed: there is nobody to ask. Add --yes to do it." in text
    assert tree(shop.repo) == before


def not_local(shop: Shop) -> Tree:
    """The home folder without our own state."""
    return {name: data for name, data in tree(shop.home).items() if not name.startswith(".local")}


def test_yes_writes_a_second_time_does_nothing_and_uninstall_leaves_no_trace(shop: Shop) -> None:
    before, home = tree(shop.repo), not_local(shop)
    assert "created .mcp.json" in shop("install", "claude-code", "codex", "zed", "--yes")
    assert "Nothing to do: all of it is written already." in shop("install", "claude-code", "codex", "zed", "--yes")
    assert "removed .mcp.json" in shop("uninstall", "--yes")
    assert tree(shop.repo) == before
    assert not_local(shop) == home
    assert not (shop.home / ".local" / "state").exists() or not list((shop.home / ".local/state").rglob("record.json"))
    assert "there is nothing of ours in these files" in shop("uninstall")


def test_a_dry_run_writes_nothing_even_with_yes(shop: Shop) -> None:
    before = tree(shop.repo)
    assert "this was a dry run" in shop("install", "zed", "--yes", "--dry-run")
    assert shop.json("install", "zed", "--yes", "--dry-run")["applied"] is False
    assert tree(shop.repo) == before


def test_a_person_is_asked_and_no_is_the_default(shop: Shop) -> None:
    before = tree(shop.repo)
    for keys in ("\n", "n\n", "\x04"):
        seat = shop.person("install", "zed")
        seat.wait_for("Change these 2 files? [y/N]")
        seat.type(keys)
        code, screen = seat.finish()
        assert code == 0 and "Nothing was changed." in screen
        assert tree(shop.repo) == before
    seat = shop.person("install", "zed")
    seat.wait_for("Change these 2 files? [y/N]")
    seat.type("y\n")
    code, screen = seat.finish()
    assert code == 0 and "created .zed/settings.json" in screen
    assert ".zed/settings.json" in tree(shop.repo)


def test_the_json_answer_is_one_line_and_applies_with_yes_only(shop: Shop) -> None:
    planned = shop.json("install", "zed")
    assert planned["applied"] is False and not (shop.repo / ".zed").exists()
    done = shop.json("install", "zed", "--yes")
    assert done["applied"] is True and (shop.repo / ".zed" / "settings.json").exists()
    assert [file["state"] for file in done["files"]] == ["create", "create"]
    assert [file["state"] for file in shop.json("install", "zed", "--yes")["files"]] == ["same", "same"]
    assert {file["state"] for file in shop.json("uninstall", "--yes")["files"]} == {"remove"}


def test_what_is_present_is_found_and_what_is_not_is_said(shop: Shop) -> None:
    assert "No coding agent was found here" in shop("install", code=2)
    (shop.home / ".codex").mkdir()
    (shop.repo / ".cursor").mkdir()
    assert [client["name"] for client in shop.json("install")["clients"]] == ["codex", "cursor"]
    text = shop("install")
    assert "until you trust it" in text and "A changed hook command voids that trust." in text


def test_an_unknown_client_is_named_with_those_there_are(shop: Shop) -> None:
    text = shop("install", "emacs", code=2)
    assert "'emacs' is no client that is known here." in text and "claude-code, codex" in text


def test_parts_can_be_left_out(shop: Shop) -> None:
    def paths(*options: str) -> list[str]:
        return [file["path"] for file in shop.json("install", "codex", *options)["files"]]

    assert paths() == [".codex/config.toml", ".codex/hooks.json", "AGENTS.md"]
    assert paths("--no-hooks") == [".codex/config.toml", "AGENTS.md"]
    assert paths("--no-mcp", "--no-instructions") == [".codex/hooks.json"]
    assert "Nothing is left to install" in shop("install", "zed", "--no-mcp", "--no-hooks", "--no-instructions", code=2)


def test_user_writes_the_persons_files_and_needs_no_project(shop: Shop, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = not_local(shop)
    shop("install", "codex", "--user", "--yes", cwd=elsewhere)
    hooks = json.loads((shop.home / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    command = hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    assert "entry.py codex SessionStart" in command and "-I -S" in command
    assert tree(elsewhere) == {}
    assert "--user" in shop("uninstall", "codex")
    shop("uninstall", "codex", "--user", "--yes", cwd=elsewhere)
    assert not_local(shop) == before
    shop("install", "codex", code=3, cwd=elsewhere)


def test_a_private_memory_is_installed_into_the_persons_files(tmp_path: Path, isolated: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    own = Shop.__new__(Shop)
    own.repo, own.home, own.env = folder, isolated, {**os.environ, "PATH": "/usr/bin:/bin"}
    own("init", "--private")
    assert own.json("install", "codex")["scope"] == "user"
    own("install", "codex", "--yes")
    assert tree(folder) == {} and (isolated / ".codex" / "config.toml").exists()
    assert own.json("install", "codex", "--no-user")["scope"] == "project"


def test_a_broken_file_ends_in_exit_code_4_and_one_sentence(shop: Shop) -> None:
    (shop.repo / ".mcp.json").write_text('{\n"a" 1}', encoding="utf-8")
    text = shop("install", "claude-code", "--no-hooks", "--no-instructions", "--yes", code=4)
    assert ".mcp.json was left alone" in text and "line 2 has '1}' where a colon belongs." in text
    assert "Nothing was changed." in text
    # A broken file that holds nothing of ours is no business of `uninstall`.
    assert "nothing of ours" in shop("uninstall", "--yes")


def test_uninstall_works_where_the_memory_was_deleted_first(shop: Shop) -> None:
    before = tree(shop.repo)
    shop("install", "zed", "--yes")
    for path in (
        (shop.repo / ".backstory" / "project.toml"),
        *(shop.repo / ".git" / "backstory").rglob("project.toml"),
    ):
        path.unlink()
    shop("uninstall", "--yes")
    assert ".zed/settings.json" not in tree(shop.repo) and ".zed/" not in tree(shop.repo)
    assert set(before) - set(tree(shop.repo)) == {".backstory/project.toml"}


def test_a_file_of_one_person_that_git_would_commit_is_pointed_out(shop: Shop) -> None:
    note = ".claude/settings.local.json is yours alone and git does not ignore it"
    assert note in shop("install", "claude-code")
    (shop.repo / ".gitignore").write_text(".claude/settings.local.json\n", encoding="utf-8")
    assert note not in shop("install", "claude-code")


def test_names_that_are_not_on_path_are_pointed_out(shop: Shop) -> None:
    note = "`backstory-hook` is not on PATH"
    assert note in shop("install", "codex") and note not in shop("install", "codex", "--no-hooks")
    folder = shop.home / "bin"
    folder.mkdir()
    for name in ("backstory", "backstory-hook"):
        (folder / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    assert "not on PATH" not in shop("install", "codex")


def test_what_is_installed_for_claude_code_gives_it_the_brief(shop: Shop) -> None:
    shop("decide", "Retry three times", "--why", "one call in fifty is dropped")
    shop("install", "claude-code", "--yes")
    hooks = json.loads((shop.repo / ".claude" / "settings.local.json").read_text(encoding="utf-8"))["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    body = json.dumps(
        {"session_id": "s", "cwd": str(shop.repo), "hook_event_name": "SessionStart", "source": "startup"}
    )
    for shell in ("sh", "bash"):
        done = subprocess.run([shell, "-c", command], input=body, capture_output=True, text=True, check=True, cwd="/")
        assert "Retry three times" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_every_hook_that_is_written_exits_0_with_valid_or_no_output(shop: Shop) -> None:
    shop("install", "claude-code", "codex", "cursor", "gemini", "windsurf", "--user", "--yes")
    commands = []
    for path in shop.home.rglob("*.json"):
        if "state" not in path.parts:
            commands += found(json.loads(path.read_text(encoding="utf-8")).get("hooks", {}))
    assert len(commands) == 31
    for command in commands:
        done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, cwd=shop.home, check=False)
        assert done.returncode == 0 and (not done.stdout or json.loads(done.stdout) is not None), command


def found(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return own + [command for inner in value.values() for command in found(inner)]
    return [command for inner in value for command in found(inner)] if isinstance(value, list) else []
