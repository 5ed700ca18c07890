"""Small histories, built from rows."""

from pathlib import Path

import pytest

from tests.history.built import Build, Row, write_history


@pytest.fixture
def build_history(tmp_path: Path) -> Build:
    """A function from rows by table to the folder of a history that holds them."""

    def build(**tables: list[Row]) -> str:
        folder = str(tmp_path / "history")
        write_history(folder, tables)
        return folder

    return build
