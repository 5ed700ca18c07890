"""An open project whose memory is empty, for imports into it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.project.opened import Project
from backstory.project.refresh import open_project
from tests.project.sessions.conftest import made_project


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Project]:
    with open_project(str(made_project(tmp_path / "proj"))) as project:
        yield project
