"""What the acceptance tests share: two projects, an end to the shared server, and a note of what each test asked."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.history import query, store
from backstory.history.embedders import local
from tests.acceptance import doors
from tests.acceptance.world import Shared, World, start

_MODELS: dict[str, Any] = {}
_ANSWERS: dict[Any, tuple[int | None, bytes, bytes]] = {}


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


@pytest.fixture(autouse=True)
def _what_never_changes_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is read once for all tests, and a query of the very file that was asked before gives that answer.

    Every pass over the surfaces would start DuckDB and read the model again: a quarter of its time.
    """
    load, ask = local.Local._load, query._in_process

    def loaded(model: Any) -> Any:
        if model._path not in _MODELS:
            _MODELS[model._path] = load(model)
        return _MODELS[model._path]

    def asked(request: dict[str, Any], seconds: float) -> tuple[int | None, bytes, bytes]:
        found = store.current(request["folder"])
        if found is None:
            return ask(request, seconds)
        kept = os.stat(os.path.join(request["folder"], found.file))
        key = (json.dumps(request), found.file, kept.st_ino, kept.st_size, kept.st_mtime_ns)
        if key not in _ANSWERS:
            _ANSWERS[key] = ask(request, seconds)
        return _ANSWERS[key]

    monkeypatch.setattr(local.Local, "_load", loaded)
    monkeypatch.setattr(query, "_in_process", asked)
