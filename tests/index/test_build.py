"""The index is disposable: missing, old, damaged or in use, answers stay right and a write is never lost to it."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.index import build, schema
from backstory.index import store as opening
from backstory.index.store import USER_VERSION, connect, open_ready
from backstory.project import gateway
from tests.storekit import PERSON_BY, Store, assert_rebuilt_is_equal, environment


@pytest.fixture
def store(repo: Path) -> Store:
    made = Store(repo).init()
    for number in range(5):
        made.record(f"entry number {number}")
    return made


def index(store: Store) -> Path:
    return Path(store.config.places.index_path)


def test_the_light_opener_knows_the_version_of_the_schema() -> None:
    assert schema.VERSION == USER_VERSION


def test_every_table_is_made_and_cleared(tmp_path: Path) -> None:
    db, why = build.open_for_writing(str(tmp_path / "made" / "index.sqlite"))
    assert why == "no index yet"
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    build.clear(db)
    assert db.execute("SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchone()[0] == 0
    db.close()


def damaged(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_text("this is no database, and long enough to be read as one" * 100)
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "zeroes":
        path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    elif how == "noise":
        middle = len(data) // 2
        path.write_bytes(data[:middle] + os.urandom(8192) + data[middle + 8192 :])
    elif how in ("older", "newer", "tables"):
        db = sqlite3.connect(path)
        if how == "tables":
            db.execute("DROP TABLE entries")
        else:
            db.execute(f"PRAGMA user_version={USER_VERSION + (1 if how == 'newer' else -1)}")
        db.commit()
        db.close()


HOW = ("missing", "empty", "text", "cut", "zeroes", "noise", "older", "newer", "tables")


def checkpointed(store: Store) -> Path:
    """All of the index in its one file."""
    db = connect(str(index(store)))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    for suffix in ("-wal", "-shm"):
        Path(str(index(store)) + suffix).unlink(missing_ok=True)
    return index(store)


@pytest.mark.parametrize("how", HOW)
def test_a_damaged_index_is_made_anew_with_a_line(store: Store, how: str) -> None:
    known = store.texts()
    damaged(checkpointed(store), how)
    for path in store.shards():
        path.touch()
    with store.open() as project:
        assert len(project.notices) <= 1
        assert dict(project.db.execute("SELECT id, summary FROM entries")) == known
        new = gateway.record(project, PERSON_BY, "note", {"summary": f"written after {how}"}).id
    assert set(store.texts()) == {*known, new}
    store.assert_sound()
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize("how", HOW)
def test_the_light_opener_gives_nothing_or_a_database_and_changes_nothing(store: Store, how: str) -> None:
    path = checkpointed(store)
    damaged(path, how)
    before = path.read_bytes() if path.exists() else None
    db = open_ready(str(path))
    if db is not None:
        db.close()
    assert db is None or how in ("cut", "zeroes", "noise", "tables")
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_log_left_from_a_crash_does_not_bring_old_rows_back(store: Store) -> None:
    """The database is replaced by nothing while its write-ahead log stays."""
    known = store.texts()
    connection = connect(str(index(store)))
    connection.execute("SELECT 1 FROM entries").fetchone()
    index(store).unlink()
    assert store.texts() == known
    connection.close()
    assert_rebuilt_is_equal(store)


def test_an_index_in_use_by_another_writer_delays_nobody_for_long_and_fails_nobody(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process holds the index's own write lock: reads and writes go on without it, and it is not torn down."""
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.1)
    holder = connect(str(index(store)))
    holder.execute("BEGIN IMMEDIATE")
    try:
        (store.root / ".backstory" / "log" / "nothing.txt").write_text("")
        with store.open() as project:
            assert project.db.execute("SELECT count(*) FROM entries").fetchone()[0] == 5
            done = gateway.record(project, PERSON_BY, "note", {"summary": "while it was locked"})
            assert (done.status, done.standing) == ("recorded", "confirmed")
            assert any("in" in notice or "cannot" in notice for notice in project.notices)
        assert len(store.texts()) == 6
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    assert len(store.texts()) == 6
    assert_rebuilt_is_equal(store)


def test_where_no_index_can_be_written_it_is_made_in_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = index(store)
    store.forget_index()
    path.mkdir()
    with store.open() as project:
        assert project.db.execute("SELECT count(*) FROM entries").fetchone()[0] == 5
        assert len(project.notices) == 1
        assert gateway.record(project, PERSON_BY, "note", {"summary": "without index"}).status == "recorded"
    path.rmdir()
    assert len(store.texts()) == 6


RACER = """
import sys
from backstory.project.refresh import open_project
for _ in range(5):
    with open_project(sys.argv[1], now=int(sys.argv[2])) as project:
        count = project.db.execute("SELECT count(*) FROM entries").fetchone()[0]
        assert count == 5, count
"""


@pytest.mark.parametrize("how", ["missing", "text", "noise", "older"])
def test_eight_processes_that_find_it_damaged_at_once_all_answer(store: Store, how: str) -> None:
    damaged(checkpointed(store), how)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(store.root), str(store.clock())],
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        for _ in range(8)
    ]
    for racer in racers:
        _, err = racer.communicate(timeout=100)
        assert (racer.returncode, err) == (0, "")
    assert_rebuilt_is_equal(store)
