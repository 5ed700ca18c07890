"""A memory in a repository, committed, with an entry about a file in it."""

from pathlib import Path

import pytest

from tests.project.memory import Memory


@pytest.fixture
def memory(repo: Path) -> Memory:
    """The tree is clean and the index current."""
    found = Memory(repo)
    found.put("src/a.py", "def first():\n    return 1\n")
    found.add("decision", "Keep the first function", files=["src/a.py"])
    found.commit("Start the memory")
    with found.open():
        return found
