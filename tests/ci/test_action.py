"""The GitHub Action: its shape, and its script run by a real bash as the runner would."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT


def action() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_every_input_and_output_is_used_and_none_is_unknown() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert action()["runs"]["using"] == "composite"
    assert set(re.findall(r"\$\{\{ inputs\.([\w-]+)", text)) == set(action()["inputs"])
    written = set(re.findall(r'echo "([\w-]+)=', text)) - {"BACKSTORY"}
    assert written == set(action()["outputs"])
    assert all("description" in item for item in [*action()["inputs"].values(), *action()["outputs"].values()])


def test_no_script_holds_an_expression() -> None:
    """`${{ }}` in a script is text of whoever opened the pull request, run as a program."""
    steps = action()["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 2 and not [script for script in scripts if "${{" in script]
    assert all(step.get("shell") == "bash" for step in steps if "run" in step)


class Runner:
    """A folder in which the script of the check runs, with a `backstory` that keeps what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "the program"

    def run(self, *, ends: int = 0, writes: bool = True, **env: str) -> tuple[int, dict[str, str], str, str]:
        """(exit code, outputs, summary, command line)."""
        report = 'printf "# found\\n" > "$8"' if writes else ":"
        asked = self.folder / "asked"
        self.program.write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" > "{asked}"\n{report}\nexit {ends}\n')
        self.program.chmod(0o755)
        output, summary = self.folder / "output", self.folder / "summary"
        output.write_text("")
        summary.write_text("")
        [step] = [step for step in action()["runs"]["steps"] if step.get("id") == "check"]
        given = {"BASE": "", "EVENT_BASE": "", "LEVEL": "block", "REPORTS": "", "FAIL": "true"}
        places = {
            "RUNNER_TEMP": str(self.folder), "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
            "BACKSTORY": str(self.program),
        }  # fmt: skip
        assert set(step["env"]) == set(given)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={**os.environ, **given, **places, **env}, check=False, capture_output=True, text=True,
        )  # fmt: skip
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done.returncode, outputs, summary.read_text(), asked.read_text()


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "a b").mkdir()
    return Runner(tmp_path / "a b")


def test_the_reports_are_written_and_told(runner: Runner) -> None:
    code, outputs, summary, asked = runner.run(BASE="origin/main")
    assert (code, outputs["exit-code"], summary) == (0, "0", "# found\n")
    assert asked.splitlines()[:6] == ["check", "--ci", "--since", "origin/main", "--level", "block"]
    assert [line for line in asked.splitlines() if line.startswith("--")][-3:] == ["--markdown", "--sarif", "--junit"]
    for name in ("comment", "sarif", "junit"):
        assert outputs[name] in asked.splitlines() and outputs[name].startswith(str(runner.folder))


@pytest.mark.parametrize(
    ("base", "event", "used"),
    [
        ("main", "abc", "main"),
        ("", "abc", "abc"),
        ("", "", "HEAD~1"),
        ("", "0" * 40, "HEAD~1"),
        ("$(x); `y`", "", "$(x); `y`"),
    ],
)
def test_the_base_is_the_given_one_or_that_of_the_event(runner: Runner, base: str, event: str, used: str) -> None:
    assert runner.run(BASE=base, EVENT_BASE=event)[3].splitlines()[3] == used


@pytest.mark.parametrize(("ends", "fail", "code"), [(1, "true", 1), (1, "false", 0), (5, "false", 5), (0, "true", 0)])
def test_a_damaged_memory_fails_even_where_findings_may_not(runner: Runner, ends: int, fail: str, code: int) -> None:
    found, outputs, summary, _ = runner.run(ends=ends, FAIL=fail)
    assert (found, outputs["exit-code"]) == (code, str(ends))
    assert summary == "# found\n"
    assert runner.run(ends=ends, FAIL=fail, writes=False)[2] == ""
