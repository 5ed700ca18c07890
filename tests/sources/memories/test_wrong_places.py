"""Every reader, given what it is not made for: it says so and raises nothing."""

from pathlib import Path

import pytest

from backstory.sources.memories.known import READERS
from tests.sources.memories.told import put, told

NOTHING = {"empty": "", "noise": "\x01\x02 no such thing\n", "braces": "{{{{", "fences": "---\n---\n"}


@pytest.mark.parametrize("name", list(READERS))
@pytest.mark.parametrize("text", list(NOTHING))
def test_a_file_that_is_no_such_memory_is_said_or_read_as_what_it_is(tmp_path: Path, name: str, text: str) -> None:
    path = put(tmp_path, {"thing.md": NOTHING[text]}) / "thing.md"
    found = told(READERS[name].read(str(path)))
    assert found.skipped or found.items


@pytest.mark.parametrize("name", list(READERS))
def test_an_empty_folder_and_one_that_is_not_there_are_said(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (folder, tmp_path / "none"):
        found = told(READERS[name].read(str(path)))
        assert found.skipped and not found.items
