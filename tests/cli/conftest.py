"""A project with a memory, and three ways to run a command: in this process, in its own, and as a person."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from backstory.surfaces.cli.main import group

SOURCE = """\
def load(path):
    text = open(path).read()
    return text


def save(path, text):
    open(path, 'w').write(text)
"""


class Cli:
    """Runs commands in this process, as an agent or, with `person=True`, as a person."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch

    def __call__(self, *args: str, stdin: str | bytes = "", person: bool = False, code: int = 0) -> Result:
        with self.monkeypatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr("backstory.project.authority._interactive", lambda: person)
            result = CliRunner().invoke(group, list(args), input=stdin)
        assert result.exit_code == code, f"{args}: exit {result.exit_code}\n{result.stdout}\n{result.stderr}"
        return result

    def json(self, *args: str, **options: Any) -> Any:
        """The data of a command's JSON answer."""
        result = self(*args, "--json", **options)
        body = json.loads(result.stdout)
        assert body["backstory"] == 1
        return body["data"]

    def record(self, *args: str, **options: Any) -> str:
        """The id of what a recording command wrote."""
        return str(self.json(*args, **options)["id"])

    def standing(self, id_: str) -> str:
        return str(self.json("show", id_)["entry"]["standing"])


@pytest.fixture
def cli(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Commands run in a git repository with a memory and one source file."""
    (repo / "src").mkdir()
    (repo / "src" / "store.py").write_text(SOURCE, encoding="utf-8")
    for arguments in (["add", "-A"], ["commit", "-q", "-m", "Store"]):
        subprocess.run(["git", *arguments], cwd=repo, check=True, stdin=subprocess.DEVNULL)
    made = Cli(repo, monkeypatch)
    made("init", "--name", "shop")
    return made


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python -m backstory` in a process of its own, as an agent."""

    def run(
        folder: Path, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *args],
            cwd=folder, input=stdin, capture_output=True, env={**os.environ, **(env or {})}, timeout=60, check=False,
        )  # fmt: skip
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )

    return run
