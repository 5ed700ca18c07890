"""What the acceptance tests share: two projects, an end to the shared server, and a note of what each test asked."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance import doors
from tests.acceptance.world import Shared, World, start


@pytest.fixture(scope="session", autouse=True)
def _no_server_is_left() -> Iterator[None]:
    yield
    Shared.stop()


@pytest.fixture(autouse=True)
def _doors_are_noted(request: pytest.FixtureRequest) -> Iterator[None]:
    doors.ASKED.clear()
    yield
    request.node.user_properties.append(("doors", json.dumps(sorted(doors.ASKED))))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A repository with an empty memory."""
    with start(tmp_path / "alpha") as made:
        yield made


@pytest.fixture
def other(tmp_path: Path) -> Iterator[World]:
    """Another one beside it."""
    with start(tmp_path / "beta") as made:
        yield made
