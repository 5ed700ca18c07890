"""Computed entries come, change and go with their source, and begin where it puts them."""

import json
import sqlite3

import pytest

from backstory.index import build, computed
from backstory.index.computed import Computed
from backstory.index.folding import Folding
from backstory.recall.render import display_line
from backstory.records.codec import canonical
from backstory.records.ids import new_id


@pytest.fixture
def db() -> sqlite3.Connection:
    return build.in_memory()


def _item(number: int, summary: str = "Something", level: str = "active", **more: object) -> Computed:
    id_ = new_id(number * 1_000_000, bytes([number] * 10))
    fields = {
        "id": id_, "kind": "trial", "at": "2026-01-01T00:00:00Z", "by": {"kind": "import", "name": "git"},
        "summary": summary, "files": [{"path": "src/a.py"}],
    }  # fmt: skip
    return Computed(id_, "2026-01-01T00:00:00Z", "trial", canonical(fields), level, **more)  # type: ignore[arg-type]


def _put(db: sqlite3.Connection, *items: Computed, source: str = "git") -> set[int]:
    touched = computed.replace(db, source, items)
    Folding(db, display_line, {}).run(touched)
    return touched


def _standings(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT id, standing FROM entries"))


def test_they_begin_where_their_source_puts_them(db: sqlite3.Connection) -> None:
    active, proposed, retired = _item(1), _item(2, level="proposed"), _item(3, level="retired", why="it landed again")
    replaced = _item(4, level="proposed", successors=(proposed.id,))
    _put(db, active, proposed, retired, replaced)
    assert _standings(db) == {
        active.id: "active",
        proposed.id: "proposed",
        retired.id: "retired",
        replaced.id: "superseded",
    }
    assert db.execute("SELECT reason FROM entries WHERE id = ?", (retired.id,)).fetchone() == ("it landed again",)
    rows = db.execute("SELECT source, commit_id FROM entries").fetchall()
    assert set(rows) == {("git", "")}


def test_what_did_not_change_is_not_touched(db: sqlite3.Connection) -> None:
    one, two = _item(1), _item(2)
    assert len(_put(db, one, two)) == 2
    assert _put(db, one, two) == set()
    assert len(_put(db, one, _item(2, "Something else"))) == 1
    assert db.execute("SELECT summary FROM entries WHERE id = ?", (two.id,)).fetchone() == ("Something else",)


def test_what_the_source_no_longer_has_is_gone_with_its_files_and_words(db: sqlite3.Connection) -> None:
    one, two = _item(1), _item(2)
    _put(db, one, two)
    _put(db, one)
    assert list(_standings(db)) == [one.id]
    counts = [
        db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("computed", "entry_files", "documents", "events")
    ]
    assert counts == [1, 1, 1, 1]


def test_sources_do_not_touch_each_other(db: sqlite3.Connection) -> None:
    one, two = _item(1), _item(2)
    _put(db, one)
    _put(db, two, source="adr")
    _put(db)
    assert list(_standings(db)) == [two.id]


def test_an_id_of_the_log_is_left_to_the_log(db: sqlite3.Connection) -> None:
    one = _item(1, "As it was computed")
    logged = json.loads(one.body) | {"summary": "As it was logged"}
    db.execute(
        "INSERT INTO events (id, at, kind, target, shard, in_tree, in_journal, body)"
        " VALUES (?, ?, 'trial', '', 's', 1, 1, ?)",
        (one.id, one.at, json.dumps(logged)),
    )
    assert _put(db, one) == set()
    assert db.execute("SELECT count(*) FROM computed").fetchone() == (0,)


def test_the_hashes_of_a_failed_patch_are_kept_with_it(db: sqlite3.Connection) -> None:
    one = _item(1, patch=(-(1 << 63), 5, (1 << 63) - 1))
    _put(db, one)
    assert computed.patches(db, "git") == {one.id: one.patch}
    assert computed.patches(db, "adr") == {}


def test_part_of_a_source_can_be_added_to_what_is_there(db: sqlite3.Connection) -> None:
    one, two = _item(1), _item(2)
    _put(db, one)
    touched = computed.replace(db, "git", [two], complete=False)
    Folding(db, display_line, {}).run(touched)
    assert set(_standings(db)) == {one.id, two.id}
