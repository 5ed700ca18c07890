"""What the acceptance tests share: two projects side by side, and an end to the shared server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.world import Shared, World, start


@pytest.fixture(scope="session", autouse=True)
def _no_server_is_left() -> Iterator[None]:
    yield
    Shared.stop()


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
