"""Kept vectors: they survive what happens to the history, and a damaged file is begun anew."""

import os
import sqlite3
import subprocess
import sys
import threading
from array import array
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.history import build, store
from backstory.history.embedders.keeping import NAME, Kept

ONE, TWO = array("f", [1.0, 0.0]), array("f", [0.6, 0.8])


def test_what_is_put_is_there_for_the_same_model_only(tmp_path: Path) -> None:
    with Kept(str(tmp_path)) as kept:
        kept.put("m", {"a": ONE, "b": TWO})
    with Kept(str(tmp_path)) as kept:
        assert kept.get("m", ["b", "a", "c"]) == {"a": ONE, "b": TWO}
        assert kept.get("n", ["a"]) == {} and kept.get("m", []) == {}
        kept.put("m", {"a": TWO})
        assert kept.get("m", {"a"}) == {"a": TWO}


def test_many_are_found_at_once(tmp_path: Path) -> None:
    many = {f"{number:05}": array("f", [float(number)]) for number in range(1_700)}
    with Kept(str(tmp_path)) as kept:
        kept.put("m", many)
        assert kept.get("m", many) == many


def test_they_outlive_histories_that_are_built_anew(tmp_path: Path) -> None:
    with Kept(str(tmp_path)) as kept:
        kept.put("m", {"a": ONE})
    for publish in (True, False):
        building = store.Building(str(tmp_path))
        with building as db:
            build.create(db)
            if publish:
                building.publish({}, {})
    with Kept(str(tmp_path)) as kept:
        assert kept.get("m", ["a"]) == {"a": ONE}


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4_096])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, damage: bytes) -> None:
    with Kept(str(tmp_path)) as kept:
        kept.put("m", {"a": ONE})
    (tmp_path / NAME).write_bytes(damage)
    with Kept(str(tmp_path)) as kept:
        assert kept.get("m", ["a"]) == {}
        kept.put("m", {"a": TWO})
        assert kept.get("m", ["a"]) == {"a": TWO}


def test_a_file_of_another_shape_is_begun_anew(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / NAME)
    other.execute("CREATE TABLE vectors (x)")
    other.close()
    with Kept(str(tmp_path)) as kept:
        kept.put("m", {"a": ONE})
        assert kept.get("m", ["a"]) == {"a": ONE}


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(BackstoryError, match="cannot be used"):
        Kept(str(tmp_path))


def test_what_a_killed_process_put_before_is_there(tmp_path: Path) -> None:
    code = """
import os, sys
from array import array
from backstory.history.embedders.keeping import Kept
kept = Kept(sys.argv[1])
kept.put("m", {"a": array("f", [1.0, 0.0])})
kept._db.execute("BEGIN IMMEDIATE")
kept._db.execute("INSERT INTO vectors (model, text_hash, embedding) VALUES ('m', 'b', x'00')")
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -9
    with Kept(str(tmp_path)) as kept:
        assert kept.get("m", ["a", "b"]) == {"a": ONE}


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        with Kept(str(tmp_path)) as kept:
            for number in range(20):
                kept.put("m", {f"{name}{number}": ONE})

    threads = [threading.Thread(target=write, args=(name,)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Kept(str(tmp_path)) as kept:
        assert len(kept.get("m", [f"{name}{number}" for name in "xy" for number in range(20)])) == 40


def test_the_oldest_unused_ones_go_when_there_are_more_than_used_ones(tmp_path: Path) -> None:
    old = {f"old{number:04}": ONE for number in range(1_500)}
    with Kept(str(tmp_path)) as kept:
        kept.put("m", old)
        kept.put("m", {"new": TWO})
        assert kept.prune("m", ["new"]) == 500
        left = kept.get("m", [*old, "new"])
        assert "new" in left and min(left) == "new" and len(left) == 1_001
        assert "old0499" not in left and "old0500" in left
        assert kept.prune("m", ["new"]) == 0


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    with Kept(str(tmp_path)) as kept:
        kept.put("m", {"0f" * 16: ONE})
    data = (tmp_path / NAME).read_bytes()
    assert b"0f0f" in data and os.listdir(tmp_path) == [NAME]
