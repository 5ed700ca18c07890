"""What was read is known by length and hash: every change of a file is noticed, whatever it looks like."""

import os
import random
from pathlib import Path

import pytest

from backstory.index import build
from backstory.index.ingest import JOURNAL, LOG, Ingest, NewLine
from backstory.project.opened import Project
from backstory.project.reading import read_files
from backstory.records.codec import canonical, first_prev, seal
from backstory.records.ids import new_id
from backstory.records.times import format_instant
from tests.storekit import Store, assert_rebuilt_is_equal, tables

PROJECT, SHARD = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "202602-abcdefgh-00000000"


def lines(count: int, shard: str = SHARD, start: int = 0) -> list[NewLine]:
    found, prev = [], first_prev(PROJECT, shard)
    for number in range(start, start + count):
        event = seal(
            {"id": new_id(number * 1000, bytes(10)), "kind": "note", "at": format_instant(number * 1000),
             "by": {"kind": "person"}, "summary": f"number {number}"},
            PROJECT, shard, prev,
        )  # fmt: skip
        raw = canonical(event)
        found.append(NewLine(event["id"], event["at"], "note", event["h"], prev, shard, number + 1, raw))
        prev = event["h"]
    return found


def ingested(*files: tuple[str, list[NewLine]]) -> tuple[Ingest, list[tuple[str, int]]]:
    db = build.in_memory()
    ingest = Ingest(db, (PROJECT,), LOG)
    for place, content in files:
        file = ingest.begin(place, SHARD, None, again=False)
        for line in content:
            ingest.line(file, line, f"{place}/{SHARD}")
        ingest.end(file, 1, len(content), "1:1:1", "")
    ingest.settle()
    return ingest, db.execute("SELECT why, line FROM problems ORDER BY line").fetchall()


def numbered(content: list[NewLine]) -> list[NewLine]:
    return [
        NewLine(line.id, line.at, line.kind, line.h, line.prev, line.shard, number + 1, line.raw)
        for number, line in enumerate(content)
    ]


def test_a_sound_chain_has_no_problem() -> None:
    assert ingested((LOG, lines(5)), (JOURNAL, lines(5)))[1] == []


@pytest.mark.parametrize("gone", range(4))
def test_a_gap_is_seen_behind_it(gone: int) -> None:
    assert ingested((LOG, [line for at, line in enumerate(lines(5)) if at != gone]))[1] == [("prev", gone + 2)]


def test_lines_in_another_order_are_seen() -> None:
    one, two, three = lines(3)
    assert ingested((LOG, numbered([two, one, three])))[1] == [("order", 1)]


def test_a_fork_is_seen_at_the_second_claim() -> None:
    one, two, three = lines(3)
    twin = lines(4)[3]
    fields = {"id": twin.id, "at": twin.at, "kind": "note", "by": {"kind": "person"}, "summary": "put in"}
    event = seal(fields, PROJECT, SHARD, one.h)
    forged = NewLine(twin.id, twin.at, "note", event["h"], one.h, SHARD, 4, canonical(event))
    assert ingested((LOG, [one, two, three, forged]))[1] == [("fork", 4)]


def test_membership_follows_where_an_event_stands() -> None:
    ingest, _ = ingested((LOG, lines(2)), (JOURNAL, lines(3)))
    rows = ingest.db.execute("SELECT in_tree, in_journal FROM events ORDER BY id").fetchall()
    assert rows == [(1, 1), (1, 1), (0, 1)]


def test_one_id_that_says_two_things_is_reported() -> None:
    (line,) = lines(1)
    fields = {"id": line.id, "at": line.at, "kind": "note", "by": {"kind": "person"}, "summary": "another"}
    event = seal(fields, PROJECT, SHARD, first_prev(PROJECT, SHARD))
    other = NewLine(line.id, line.at, "note", event["h"], line.prev, SHARD, 1, canonical(event))
    _, found = ingested((LOG, [line]), (JOURNAL, [other]))
    assert ("twice", 1) in found


# -- through the project: every way in which a file may change


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "plain"
    folder.mkdir()
    made = Store(folder).init()
    for number in range(6):
        made.record(f"entry number {number}")
    return made


def test_an_append_is_read_from_where_it_was_left(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.texts()
    seen: list[int] = []
    from backstory.project import reading

    real = reading.lines
    monkeypatch.setattr(
        reading, "lines", lambda path, start, number: (seen.append(start), real(path, start, number))[1]
    )
    size = store.shards()[0].stat().st_size
    store.record("one more")
    assert seen == [size]
    store.texts()
    assert seen == [size]


@pytest.mark.parametrize("same_time", [False, True])
@pytest.mark.parametrize("how", ["edit", "shorter", "replaced", "grown and edited", "gone", "swapped", "touched"])
def test_any_change_of_a_file_is_noticed(store: Store, how: str, same_time: bool) -> None:
    """In place or by a new file, with its old times put back where a tool would."""
    store.texts()
    (path,) = store.shards()
    status, data = path.stat(), path.read_bytes()
    whole = data.splitlines(keepends=True)
    if how == "edit":
        with open(path, "r+b") as file:
            file.seek(data.index(b"number 2"))
            file.write(b"NUMBER 2")
    elif how == "shorter":
        os.truncate(path, len(data) - len(whole[-1]))
    elif how == "replaced":
        path.unlink()
        path.write_bytes(b"".join(whole[:4]))
    elif how == "grown and edited":
        path.write_bytes(data.replace(b"number 5", b"NUMBER 5") + whole[0])
    elif how == "gone":
        path.unlink()
    elif how == "swapped":
        path.write_bytes(b"".join([*whole[:4], whole[5], whole[4]]))
    if same_time and path.exists():
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    if same_time and how in ("edit", "swapped"):
        # Same length, same inode, same times: only `verify` reads it again.
        assert not store.verify().sound
        return
    assert_rebuilt_is_equal(store)
    assert (store.verify().sound, not store.problems()) == ((how == "touched"),) * 2


def test_a_line_written_while_the_file_is_read_is_read_next_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer appends after the reader reached the end and before it noted how far it came."""
    from backstory.project import reading

    (path,) = store.shards()
    late = path.read_bytes().splitlines(keepends=True)[-1]
    path.write_bytes(path.read_bytes()[: -len(late)])
    store.forget_index()
    real = reading.lines

    def slow(*args: object) -> object:
        yield from real(*args)  # type: ignore[arg-type]
        with open(path, "ab") as file:
            file.write(late)

    with monkeypatch.context() as patch:
        patch.setattr(reading, "lines", slow)
        assert len(store.texts()) == 5
    assert len(store.texts()) == 6
    assert_rebuilt_is_equal(store)


def test_files_that_arrive_in_any_order_give_the_same_index(repo: Path, tmp_path: Path) -> None:
    """Shards of four branches, put into an empty tree one by one, in ten orders."""
    store = Store(repo).init()
    base = store.record("base")
    for name in ("a", "b", "c"):
        store.git("switch", "-q", "-c", name)
        rival = store.record(f"replaces on {name}", supersedes=[base])
        store.do("reject", store.record(f"rejected on {name}"))
        store.do("resolve", base, over=rival)
        store.do("retire", base)
        store.do("approve", base)
    store.redact(store.record("redacted"))
    contents = {path.name: path.read_bytes() for path in store.shards()}
    assert len(contents) == 4
    empty = tmp_path / "empty"
    empty.mkdir()
    other = Store(empty, store.clock).init()
    marker = Path(other.config.places.marker)
    marker.write_bytes(Path(store.config.places.marker).read_bytes())
    (empty / ".backstory" / "log").mkdir()
    shuffler, expected = random.Random(2), None
    for _ in range(10):
        names = list(contents)
        shuffler.shuffle(names)
        for name in names:
            (empty / ".backstory" / "log" / name).write_bytes(contents[name])
            other.texts()
        with other.open() as project:
            found = tables(project)
        expected = expected or found
        assert found == expected
        for name in names:
            (empty / ".backstory" / "log" / name).unlink()
            with other.open() as project:
                kept = tables(project)
            db = build.in_memory()
            fresh = Project(other.config, db, store.clock())
            db.execute("BEGIN")
            read_files(other.config, db)
            ids = db.execute("SELECT id FROM events WHERE in_tree = 1 ORDER BY id").fetchall()
            assert [(row[0],) for row in kept["events"]] == ids
            fresh.close()


def test_a_file_that_cannot_be_read_is_reported_and_read_once_it_can(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backstory.project import reading

    def fails(*args: object) -> object:
        raise PermissionError(13, "permission denied")

    store.texts()
    (path,) = store.shards()
    other = path.with_name("202602-abcdefgh-00000000.jsonl")
    other.write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setattr(reading, "lines", fails)
        assert [item.why for item in store.problems()] == ["unreadable"]
        assert [item.why for item in store.problems()] == ["unreadable"]
        assert "unreadable" in {item.why for item in store.verify().problems}
        assert len(store.texts()) == 6
    store.assert_sound()
    assert_rebuilt_is_equal(store)
