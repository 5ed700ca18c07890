"""The history's files: a reader has a whole one or none, a named file never changes, a crash costs nothing."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.history import build, store

COUNT = "SELECT count(*) FROM state_events"


def _publish(folder: Path, rows: int, base: store.Pointer | None = None) -> store.Pointer:
    building = store.Building(str(folder), base)
    with building as db:
        if base is None:
            build.create(db)
        build.add(db, "state_events", [(1, "s", "x", None, "{}", "f", line) for line in range(rows)])
        return building.publish({"states": str(rows)}, {"rows": str(rows)})


def _count(folder: Path) -> int:
    reader = store.open_reader(str(folder))
    try:
        row = reader.execute(COUNT).fetchone()
        assert row is not None
        return int(row[0])
    finally:
        reader.close()


def test_a_published_history_is_current_and_carries_what_it_was_made_from(tmp_path: Path) -> None:
    assert store.current(str(tmp_path)) is None
    made = _publish(tmp_path, 3)
    assert store.current(str(tmp_path)) == made
    assert made.inputs == {"states": "3"} and made.meta == {"rows": "3"}
    assert _count(tmp_path) == 3


def test_a_new_one_has_a_new_name_and_the_old_one_goes(tmp_path: Path) -> None:
    first = _publish(tmp_path, 1)
    second = _publish(tmp_path, 2)
    assert first.file != second.file
    assert sorted(os.listdir(tmp_path)) == sorted(["current.json", second.file])


def test_a_copy_begins_with_what_was_there_and_leaves_it_alone(tmp_path: Path) -> None:
    first = _publish(tmp_path, 2)
    before = (tmp_path / first.file).read_bytes()
    with store.Building(str(tmp_path), first) as db:
        db.execute("DELETE FROM state_events")
        assert (tmp_path / first.file).read_bytes() == before
    assert store.current(str(tmp_path)) == first and _count(tmp_path) == 2
    _publish(tmp_path, 5, first)
    assert _count(tmp_path) == 7


def test_what_is_not_published_leaves_no_trace(tmp_path: Path) -> None:
    first = _publish(tmp_path, 1)
    with pytest.raises(RuntimeError), store.Building(str(tmp_path), first) as db:
        build.add(db, "state_events", [(1, "s", "x", None, "{}", "f", 9)])
        raise RuntimeError
    assert sorted(os.listdir(tmp_path)) == sorted(["current.json", first.file])
    assert _count(tmp_path) == 1


KILLED = """
import os, sys
from backstory.history import build, store
building = store.Building(sys.argv[1], store.current(sys.argv[1]))
with building as db:
    build.add(db, "state_events", [(1, "s", "x", None, "{}", "f", line) for line in range(50_000)])
    if sys.argv[2] == "before":
        os._exit(9)
    replace = os.replace
    def stop(one, other):
        if sys.argv[2] == "named" or other.endswith("current.json"):
            os._exit(9)
        replace(one, other)
    os.replace = stop
    building.publish({})
"""


@pytest.mark.parametrize("point", ["before", "named", "pointer"])
def test_a_killed_process_leaves_the_old_one_and_the_next_sweeps(tmp_path: Path, point: str) -> None:
    first = _publish(tmp_path, 4)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), point], check=False)
    assert done.returncode == 9
    assert len(os.listdir(tmp_path)) > 2
    assert store.current(str(tmp_path)) == first and _count(tmp_path) == 4
    last = _publish(tmp_path, 6)
    assert sorted(os.listdir(tmp_path)) == sorted(["current.json", last.file]) and _count(tmp_path) == 6


@pytest.mark.parametrize(
    "pointer", ["", "{", "[]", '{"version": 1}', '{"version": 0, "file": "x", "inputs": {}, "meta": {}}', "\0\xff"]
)
def test_a_broken_pointer_or_one_of_another_version_is_no_history(tmp_path: Path, pointer: str) -> None:
    _publish(tmp_path, 1)
    (tmp_path / "current.json").write_text(pointer, encoding="latin-1")
    assert store.current(str(tmp_path)) is None
    with pytest.raises(BackstoryError, match="no history yet"):
        store.open_reader(str(tmp_path))
    _publish(tmp_path, 2)
    assert _count(tmp_path) == 2


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    made = _publish(tmp_path, 1)
    (tmp_path / made.file).write_bytes(b"no database at all" * 1000)
    with pytest.raises(BackstoryError, match="cannot be opened") as caught:
        store.open_reader(str(tmp_path))
    assert "--rebuild" in (caught.value.hint or "")


def test_readers_never_fail_while_others_publish(tmp_path: Path) -> None:
    _publish(tmp_path, 1)
    stop = threading.Event()
    seen: list[int] = []
    failures: list[BaseException] = []

    def read() -> None:
        while not stop.is_set():
            try:
                seen.append(_count(tmp_path))
            except BaseException as error:  # noqa: BLE001
                failures.append(error)
                return

    reader = threading.Thread(target=read)
    reader.start()
    for rows in range(2, 12):
        _publish(tmp_path, rows)
    stop.set()
    reader.join()
    assert failures == []
    assert seen and set(seen) <= set(range(1, 12))


def test_forgetting_leaves_nothing_and_a_folder_that_was_never_used_is_not_made(tmp_path: Path) -> None:
    store.forget(str(tmp_path / "never"))
    assert not (tmp_path / "never").exists()
    _publish(tmp_path, 1)
    assert store.was_used(str(tmp_path))
    store.forget(str(tmp_path))
    assert os.listdir(tmp_path) == [] and store.current(str(tmp_path)) is None


def test_the_pointer_is_plain_json(tmp_path: Path) -> None:
    made = _publish(tmp_path, 1)
    assert json.loads((tmp_path / "current.json").read_text(encoding="utf-8"))["file"] == made.file
