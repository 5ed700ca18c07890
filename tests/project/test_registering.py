"""The list of projects: places that moved, are gone or changed hands are said, and nothing is guessed."""

import shutil
from pathlib import Path

import pytest

from backstory.config import load
from backstory.errors import BackstoryError
from backstory.project import known, registering
from backstory.project.setup import init
from tests.project.memory import START
from tests.storekit import new_repo


def made(folder: Path) -> str:
    new_repo(folder)
    return init(str(folder), now=START).project


def states() -> dict[str, str]:
    return {Path(item.root).name: item.state for item in registering.listed()}


def test_each_place_is_said_to_be_what_it_is(tmp_path: Path) -> None:
    ids = {name: made(tmp_path / name) for name in ("here", "moved", "gone", "empty", "other")}
    shutil.move(tmp_path / "moved", tmp_path / "new-place")
    known.remember(load(str(tmp_path / "new-place")))
    shutil.rmtree(tmp_path / "gone")
    for part in (".backstory", ".git"):
        shutil.rmtree(tmp_path / "empty" / part)
        shutil.rmtree(tmp_path / "other" / part)
    shutil.rmtree(tmp_path / "other")
    made(tmp_path / "other")
    # The list holds what was seen last in a folder; the older id is known from a list of before.
    assert states() == {
        "here": "here", "moved": "moved", "new-place": "here", "gone": "gone", "empty": "no memory", "other": "here",
    }  # fmt: skip
    (moved,) = [item for item in registering.listed() if item.state == "moved"]
    assert moved.id == ids["moved"] and moved.elsewhere == (str(tmp_path / "new-place"),)


def test_another_project_in_the_folder_is_no_silent_successor(tmp_path: Path) -> None:
    made(tmp_path / "one")
    marker = tmp_path / "one" / ".backstory" / "project.toml"
    old = marker.read_text()
    marker.write_text(old.replace(load(str(tmp_path / "one")).project, "0" * 26))
    assert states() == {"one": "another project"}
    marker.write_text(old)
    assert states() == {"one": "here"}


def test_forgetting_takes_a_project_off_the_list_and_leaves_its_memory(tmp_path: Path) -> None:
    first, second = made(tmp_path / "one"), made(tmp_path / "two")
    assert [item.id for item in registering.forget(first[-6:])] == [first]
    assert [item.id for item in registering.listed()] == [second]
    registering.forget(str(tmp_path / "two"))
    assert registering.listed() == [] and load(str(tmp_path / "one")).project == first
    with pytest.raises(BackstoryError, match="on no list"):
        registering.forget("nowhere")


def test_a_scan_finds_what_is_not_listed_and_lists_nothing_by_itself(tmp_path: Path) -> None:
    ids = {made(tmp_path / "in" / name) for name in ("one", "deep/er/two", "node_modules/three", ".hidden/four")}
    for item in registering.listed():
        registering.forget(item.root)
    found = registering.scan(str(tmp_path))
    assert {Path(item.root).name for item in found} == {"one", "two"} and {item.id for item in found} < ids
    assert registering.listed() == []
    registering.keep(found)
    assert {Path(root).name for _, root in known.everything()} == {"one", "two"}
    assert registering.scan(str(tmp_path)) == []
