"""A memory whose project also has tickets, run records, pull requests, states and decision records."""

from pathlib import Path

import pytest

from tests.project.history.sources import Sources


@pytest.fixture
def sources(repo: Path) -> Sources:
    """A small project with something of every source, its history not read yet."""
    return Sources(repo)
