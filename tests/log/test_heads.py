"""The last heads seen: a witness outside of the store. Losing it costs the warning and nothing else."""

import json
import os
from pathlib import Path

import pytest

from backstory.config import state_dir
from backstory.log import heads
from tests.storekit import Store


@pytest.fixture
def store(repo: Path) -> Store:
    made = Store(repo).init()
    made.record("one")
    return made


def witness() -> Path:
    (path,) = Path(state_dir(), "heads").iterdir()
    return path


def test_they_lie_outside_of_the_project_and_name_the_tip_of_each_file(store: Store) -> None:
    assert store.root not in witness().parents
    found = heads.read(store.config)
    assert {place.partition("/")[0] for place in found} == {"log", "journal"}
    tip = json.loads(store.shards()[0].read_bytes())["h"]
    assert {head for head, _ in found.values()} == {tip}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"log/x": 7}', '{"log/x": ["00", "many"]}', "\ufffd", "null"])
def test_a_damaged_one_is_as_none_and_is_written_anew(store: Store, content: str) -> None:
    witness().write_text(content)
    assert heads.read(store.config) == {}
    store.assert_sound()
    store.record("two")
    assert len(heads.read(store.config)) == 2


@pytest.mark.parametrize("tip", ["zz", "", "00", "not hex at all", "0" * 33])
def test_a_tip_that_is_none_raises_nothing(store: Store, tip: str) -> None:
    witness().write_text(json.dumps({f"log/{store.shards()[0].stem}": [tip, 1], "nonsense": [tip, 2], "": ["", 0]}))
    store.verify()
    store.record("two")
    store.problems()


def test_a_state_folder_that_cannot_be_written_costs_only_the_warning(store: Store) -> None:
    folder = Path(state_dir())
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    folder.rmdir()
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file in its place")
    assert heads.write(store.config, {"log/x": ("00", 1)}) is False
    store.record("two")
    assert len(store.texts()) == 2
    store.assert_sound()


def test_two_projects_and_two_clones_have_witnesses_of_their_own(store: Store, tmp_path: Path) -> None:
    store.commit("memory")
    store.git("clone", "-q", str(store.root), str(tmp_path / "clone"))
    Store(tmp_path / "clone", store.clock).texts()
    (tmp_path / "plain").mkdir()
    Store(tmp_path / "plain").init().record("one")
    assert len(list(Path(state_dir(), "heads").iterdir())) == 3


def test_no_half_written_witness_is_left(store: Store) -> None:
    for number in range(5):
        store.record(f"entry {number}")
    assert [name for name in os.listdir(Path(state_dir(), "heads")) if not name.endswith(".json")] == []
