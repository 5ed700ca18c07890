"""A fresh memory for each test."""

from pathlib import Path

import pytest

from tests.project.memory import Memory


@pytest.fixture
def memory(repo: Path) -> Memory:
    """A memory in a repository, with a test file in it."""
    found = Memory(repo)
    found.put("tests/test_shop.py", "def test_buy():\n    pass\n")
    found.commit("Start the memory")
    return found
