"""Small real repositories, built with the git command as a person would."""

import os
import subprocess
from pathlib import Path

import pytest


class Repository:
    """A work tree under test and the git commands that shape it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = 1_700_000_000

    def __str__(self) -> str:
        return str(self.root)

    def git(self, *args: str, stdin: bytes = b"", check: bool = True) -> str:
        """Run git here and return what it printed, without the last line break."""
        # One second later each time, so that order by time is defined.
        self.clock += 1
        date = f"{self.clock} +0000"
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            env={**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
            input=stdin,
            capture_output=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file, with its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def commit(self, message: str = "change", **files: str) -> str:
        """Write the files (`__` in a name stands for a dot), commit everything, return the commit's id."""
        for name, text in files.items():
            self.write(name.replace("__", "."), text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
        return self.git("rev-parse", "HEAD")

    @property
    def git_dir(self) -> str:
        """The work tree's own git dir."""
        return self.git("rev-parse", "--absolute-git-dir")

    @property
    def common_dir(self) -> str:
        """The git dir that all work trees of the clone share."""
        return self.git("rev-parse", "--path-format=absolute", "--git-common-dir")


def make(root: Path, *init: str) -> Repository:
    """An empty repository on the unborn branch `main`."""
    root.mkdir(parents=True)
    repository = Repository(root)
    repository.git("init", "-q", "-b", "main", *init)
    return repository


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    """An empty repository on the unborn branch `main`."""
    return make(tmp_path / "project")


@pytest.fixture
def clone(tmp_path: Path):
    """Clone a repository over `file://`, so that depth and filters hold."""

    def run(source: Repository, *options: str) -> Repository:
        source.git("config", "uploadpack.allowFilter", "true")
        source.git("config", "uploadpack.allowAnySHA1InWant", "true")
        target = tmp_path / f"clone{len(list(tmp_path.iterdir()))}"
        source.git("clone", "-q", *options, source.root.as_uri(), str(target))
        return Repository(target)

    return run


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a shell script in the place of git and return where it can leave traces."""
    if os.name == "nt":
        pytest.skip("the stand-in for git is a shell script")

    def install(script: str) -> Path:
        folder = tmp_path / "fake-bin"
        folder.mkdir(exist_ok=True)
        program = folder / "git"
        program.write_text(f'#!/bin/sh\ntrace="{tmp_path}"\n{script}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return tmp_path

    return install
