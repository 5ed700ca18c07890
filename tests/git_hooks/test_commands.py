"""The commands around git hooks and test results, as a person or a manager of hooks runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.project.git_hooks import installing
from tests.git_hooks.hooked import script, snapshot
from tests.project.memory import Memory


def run(folder: Path, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "backstory", *args], cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


def data(folder: Path, *args: str) -> Any:
    return json.loads(run(folder, *args, "--json").stdout)["data"]


def test_install_shows_does_and_says_and_uninstall_takes_all_of_it_back(memory: Memory) -> None:
    script(memory.root / ".git/hooks/pre-commit", "#!/bin/sh\n")
    before = snapshot(memory.root)
    shown = run(memory.root / "src", "git-hooks", "install", "--dry-run").stdout
    assert "+++ .git/hooks/post-commit" in shown and snapshot(memory.root) == before
    said = run(memory.root, "git-hooks", "install", "--block").stdout.splitlines()
    assert said[0] == "Git hooks installed:" and len(said) == 8
    assert "  .git/hooks/pre-commit: added, pre-commit.before-backstory is what was there (pre-commit)" in said
    assert said[-1] == "A finding at block level stops a commit from now on."
    assert run(memory.root, "git-hooks", "install", "--block").stdout.startswith("Nothing to do")
    status = run(memory.root, "git-hooks", "status").stdout
    assert "pre-commit     runs what was there before, then backstory" in status and "stops a commit" in status
    assert {hook["state"] for hook in data(memory.root, "git-hooks", "status")["hooks"]} == {"chained", "installed"}
    launcher = memory.root / ".git/backstory/git-hook"
    launcher.rename(memory.root / "aside")
    assert "The launcher is missing" in run(memory.root, "git-hooks", "status").stdout
    (memory.root / "aside").rename(launcher)
    assert len(data(memory.root, "git-hooks", "uninstall")["changed"]) == 6
    assert snapshot(memory.root) == before
    assert run(memory.root, "git-hooks", "uninstall").stdout.startswith("Nothing to do")


def test_the_launcher_starts_this_interpreter_from_anywhere(memory: Memory) -> None:
    run(memory.root, "git-hooks", "install")
    text = (memory.root / ".git/backstory/git-hook").read_text()
    assert f"python='{sys.executable}'" in text and "surfaces/hooks/git.py'" in text
    done = subprocess.run(
        [str(memory.root / ".git/hooks/pre-commit")],
        cwd=memory.root,
        env={"PATH": ""},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_hook_by_its_name_never_fails_its_host(memory: Memory, tmp_path: Path) -> None:
    for name in ("pre-commit", "post-commit", "post-merge", "no such hook"):
        assert run(memory.root, "git-hook", name).stdout == ""
    assert "no git hook 'no such hook'" in run(memory.root, "git-hook", "no such hook").stderr
    run(memory.root, "git-hook", "post-checkout", "a" * 40, "b" * 40, "1")
    (tmp_path / "elsewhere").mkdir()
    assert run(tmp_path / "elsewhere", "git-hook", "pre-commit").stderr == ""


@pytest.mark.parametrize(("ended", "code"), [(0, 0), (1, 0), (4, 1), (70, 0)])
def test_only_a_finding_that_is_to_stop_ends_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: int, code: int
) -> None:
    entry = script(
        tmp_path / "entry.py", f"import sys; open('asked', 'w').write(' '.join(sys.argv[1:])); sys.exit({ended})"
    )
    monkeypatch.setattr(installing, "_entry", lambda: str(entry))
    monkeypatch.chdir(tmp_path)
    assert installing.start("pre-commit", ("x",), block=True) == code
    assert (tmp_path / "asked").read_text() == "--block pre-commit x"


def test_without_git_or_a_memory_the_next_step_is_named(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    assert "backstory init" in run(folder, "git-hooks", "install", code=3).stderr
    run(folder, "init")
    for command in ("install", "uninstall", "status"):
        assert "no git work tree" in run(folder, "git-hooks", command, code=4).stderr
    run(memory.root, "git-hooks", "status")


def test_results_are_ingested_from_the_command_line(memory: Memory) -> None:
    report = memory.root.parent / "junit.xml"
    report.write_text(
        '<testsuite><testcase name="one"><failure message="\x1b[31mred"/></testcase></testsuite>'.replace("\x1b", "")
    )
    said = run(memory.root, "ci", "ingest", str(report), "--dry-run").stdout
    assert "junit.xml (junit): 1 failed, 0 passed, 0 skipped" in said and "would be proposed" in said
    assert data(memory.root, "ci", "ingest", os.path.relpath(report, memory.root))["failed"]
    assert "fail as they did before" in run(memory.root, "ci", "ingest", str(report)).stdout
    assert "Test one failed" in run(memory.root, "review").stdout
    assert "no test result" in run(memory.root, "ci", "ingest", "README.md", code=2).stderr
    assert "cannot be read" in run(memory.root, "ci", "ingest", "none.xml", code=2).stderr
