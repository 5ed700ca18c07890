"""A fresh memory for each test."""

from pathlib import Path

import pytest

from tests.project.memory import Memory


@pytest.fixture
def memory(repo: Path) -> Memory:
    """A memory in a repository with one commit, the memory's own files committed too."""
    found = Memory(repo)
    found.commit("Start the memory")
    return found
