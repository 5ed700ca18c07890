"""Servers and projects for the tests of the MCP surface."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.project.keeping import Keeper
from backstory.surfaces.mcp.answering import Caller
from backstory.surfaces.mcp.calls import answer
from backstory.surfaces.mcp.replies import Reply
from backstory.surfaces.mcp.scope import Scope
from tests.mcp.wire import RUN, Wire, make_project


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Wire]]:
    """Start servers: `serve(cwd, start="", role="write", env={}, code="")`; all are ended after the test."""
    started: list[Wire] = []

    def start(cwd: Path, start: str = "", role: str = "write", code: str = "", **env: str) -> Wire:
        text = (code + "\n" if code else "") + RUN.format(start=start, role=role)
        started.append(Wire(text, cwd, tmp_path / f"stderr{len(started)}-{time.monotonic_ns()}", env))
        return started[-1]

    yield start
    for wire in started:
        wire.process.kill()
        wire.close()


@pytest.fixture
def project(tmp_path: Path, isolated: Path) -> Path:
    """A project called `alpha`."""
    return make_project(tmp_path / "alpha")


@pytest.fixture
def other(tmp_path: Path, isolated: Path) -> Path:
    """A second project, called `beta`, beside it."""
    return make_project(tmp_path / "beta")


@pytest.fixture
def ask() -> Callable[..., Reply]:
    """Call a tool in this process, without the protocol: `ask(scope or folder, tool, session="one", **arguments)`."""

    # As in a server: what one call opened, the next may find open.
    keeper = Keeper()

    def call(where: Scope | Path, tool: str, session: str = "one", **arguments: Any) -> Reply:
        scope = where if isinstance(where, Scope) else Scope(str(where), {}, str(where))
        return answer(scope, keeper, Caller("test-client", session), tool, arguments)

    return call
