"""The clients themselves, as `make test-clients` installed them; without them every test here skips."""

import os
import shutil
from pathlib import Path

import pytest

from tests.project.memory import Memory
from tests.real_clients.driving import Claude, Codex

PLACES = {
    "claude": ("@anthropic-ai/claude-code-*/claude", "@anthropic-ai/claude-code-*/claude.exe"),
    "codex": ("@openai/codex-*/vendor/*/bin/codex", "@openai/codex-*/vendor/*/bin/codex.exe"),
}


def _program(name: str) -> Path:
    folder = os.environ.get("TEST_CLIENTS", "")
    if not folder:
        pytest.skip("TEST_CLIENTS names no folder of installed clients; `make test-clients` installs them and sets it")
    found = [path for place in PLACES[name] for path in sorted(Path(folder, "node_modules").glob(place))]
    assert found, f"{folder} holds no {name}; `make test-clients` installs it"
    return found[0]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder for the client, with nothing in it."""
    folder = tmp_path / "client-home"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(repo: Path) -> Memory:
    """A memory with one decision about the project and one about `src/a.py`, which the brief has no room for."""
    import time

    found = Memory(repo)
    found.now = time.time_ns() // 1000 - 60_000_000
    found.put("src/a.py", "alpha = 1\n")
    found.commit("Start")
    return found


@pytest.fixture
def claude(memory: Memory, home: Path) -> Claude:
    """Claude Code in that project, our hooks in its settings."""
    return Claude(_program("claude"), memory, home)


@pytest.fixture
def codex(memory: Memory, home: Path) -> Codex:
    """Codex in that project, our hooks in its `hooks.json`."""
    assert shutil.which("bash"), "Codex needs a shell"
    return Codex(_program("codex"), memory, home)
