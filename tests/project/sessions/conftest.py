"""A project with a memory, and its archive of sessions."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.project.opened import Project, now_micros
from backstory.project.refresh import open_project
from backstory.project.sessions import reading
from backstory.project.setup import init


def made_project(folder: Path) -> Path:
    """A repository with a memory at `folder`."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    (folder / "src").mkdir()
    (folder / "src" / "store.py").write_text("def rows():\n    return None\n", encoding="utf-8")
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-qm", "Begin"], cwd=folder, check=True)
    init(str(folder), now=now_micros())
    return folder


@pytest.fixture
def home(isolated: Path) -> Path:
    return isolated


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path / "proj")


def opened(folder: Path) -> Project:
    return open_project(str(folder))


def refresh(folder: Path, **options: object) -> reading.Report:
    """Read what is new, as a command does."""
    with opened(folder) as project:
        return reading.refresh(project.config, os.environ, os.environ["HOME"], **options)  # type: ignore[arg-type]


Asked = Callable[[str], list[str]]
