"""Appending: both places or neither, a fresh line after any damage, and nothing lost when the process is killed."""

import errno
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.config import load
from backstory.errors import BackstoryError, Exit
from backstory.log import append as appending
from backstory.log.append import append, append_block, has_pending
from backstory.log.names import branch_key
from backstory.log.reader import Line, last_line, lines
from backstory.records.codec import canonical, first_prev, read_fields, verifies
from backstory.records.event import LINE_LIMIT
from backstory.records.ids import new_id
from backstory.records.times import format_instant
from tests.storekit import START, Clock, Store, refused


def event(clock: Clock, text: str = "something", **fields: Any) -> dict[str, Any]:
    now = clock()
    by = {"kind": "person", "name": "Ada"}
    return {"kind": "note", "id": new_id(now), "at": format_instant(now), "by": by, "summary": text, **fields}


def ids_in(path: Path) -> list[str]:
    return [item.head.id for item in lines(str(path)) if isinstance(item, Line)]


@pytest.fixture
def plain(tmp_path: Path) -> Store:
    """A folder without git: the log is all there is."""
    folder = tmp_path / "plain"
    folder.mkdir()
    return Store(folder).init()


@pytest.fixture
def store(repo: Path) -> Store:
    return Store(repo).init()


def put(store: Store, *texts: str, branch: str = "main") -> list[str]:
    sealed = append(store.config, branch, [event(store.clock, text) for text in texts], store.clock.now)
    return [item["id"] for item in sealed]


def test_events_land_in_journal_and_log_with_the_same_bytes(store: Store) -> None:
    put(store, "one")
    put(store, "two", "three")
    (shard,), (journal,) = store.shards(), store.journals()
    assert shard.read_bytes() == journal.read_bytes()
    assert shard.read_bytes().count(b"\n") == 3
    assert shard.name.startswith(journal.stem + "-")


def test_each_event_names_the_one_before_it(store: Store) -> None:
    put(store, "one", "two")
    put(store, "three")
    (shard,) = store.shards()
    project = store.config.project
    previous = first_prev(project, shard.stem)
    for item in lines(str(shard)):
        assert isinstance(item, Line)
        assert item.head.prev == previous
        assert verifies(project, item.raw, item.head.h)
        assert item.raw == canonical(read_fields(item.raw))
        previous = item.head.h


def test_an_empty_list_writes_nothing_and_makes_no_file(store: Store) -> None:
    assert append(store.config, "main", [], START) == []
    assert store.shards() == []


def test_two_branches_write_two_files(store: Store) -> None:
    put(store, "one", branch="main")
    put(store, "two", branch="side")
    assert {path.stem.rpartition("-")[2] for path in store.shards()} == {branch_key("main"), branch_key("side")}
    assert len(store.journals()) == 1
    store.assert_sound()


def test_a_month_begins_new_files_by_utc(store: Store) -> None:
    put(store, "one")
    store.clock.now += 40 * 86_400 * 1_000_000
    put(store, "two")
    assert sorted(path.name[:6] for path in store.shards()) == ["202602", "202604"]
    assert len(store.journals()) == 2


def test_a_line_of_64_kib_is_taken_and_one_byte_more_is_refused_whole(store: Store) -> None:
    put(store, "first")
    probe = append(store.config, "main", [event(store.clock, detail="x")], store.clock.now)[0]
    room = LINE_LIMIT - len(canonical(probe)) + 1
    put_size = event(store.clock, detail="x" * room)
    sealed = append(store.config, "main", [put_size], store.clock.now)[0]
    assert len(canonical(sealed)) == LINE_LIMIT
    before = store.shards()[0].read_bytes()
    error = refused(
        append, store.config, "main", [event(store.clock), event(store.clock, detail="x" * (room + 1))], START
    )
    assert error.code == Exit.REFUSED
    assert "65,537" in error.message
    assert store.shards()[0].read_bytes() == before
    assert ids_in(store.shards()[0])[-1] == sealed["id"]
    store.assert_sound()


def test_the_log_cut_at_every_byte_keeps_every_whole_earlier_line(plain: Store, tmp_path: Path) -> None:
    """At each length: what stood whole before the cut is read, the next append starts a line and links to the last."""
    known = put(plain, "one", "two", "thrée   end")
    (shard,) = plain.shards()
    data = shard.read_bytes()
    ends = [number + 1 for number, byte in enumerate(data) if byte == 10]
    for cut in range(len(data) + 1):
        shard.write_bytes(data[:cut])
        whole = sum(end <= cut for end in ends)
        assert ids_in(shard) == known[:whole], cut
        (new,) = put(plain, "next")
        found = ids_in(shard)
        # A line of which only the line end was lost is whole again once the next one ended it.
        kept = sum(end - 1 <= cut for end in ends)
        assert found == [*known[:kept], new], cut
        assert shard.read_bytes().startswith(data[:cut]), cut
        last = [item for item in lines(str(shard)) if isinstance(item, Line)][-1]
        before = found[-2] if len(found) > 1 else None
        prev = next((i.head.h for i in lines(str(shard)) if isinstance(i, Line) and i.head.id == before), None)
        assert last.head.prev == (prev or first_prev(plain.config.project, shard.stem)), cut


@pytest.mark.parametrize("back", [1, 2, 40, 200])
def test_a_torn_tail_is_reported_with_its_line_and_hides_nothing(store: Store, back: int) -> None:
    first, second = store.record("one"), store.record("two")
    (shard,) = store.shards()
    shard.write_bytes(shard.read_bytes()[:-back])
    torn = [item for item in store.verify().problems if item.why == "torn"]
    assert [(item.line, item.file) for item in torn] == [(2, f"log/{shard.name}")]
    third = store.record("three")
    assert {first, second, third} <= set(store.texts())
    assert store.standings() == {first: "confirmed", second: "confirmed", third: "confirmed"}


def test_a_shard_that_lost_its_end_is_left_alone_and_writing_goes_on_beside_it(store: Store) -> None:
    put(store, "one", "two")
    (shard,) = store.shards()
    whole = shard.read_bytes()
    shard.write_bytes(whole.splitlines(keepends=True)[0])
    put(store, "three")
    assert len(store.shards()) == 2
    assert shard.read_bytes() == whole.splitlines(keepends=True)[0]
    shard.write_bytes(whole)
    store.assert_sound()
    assert len(store.texts()) == 3


def fail_at(monkeypatch: pytest.MonkeyPatch, nth: int, number: int, *, short: bool) -> list[int]:
    """The nth write to the log or the journal fails, after half of it was written if `short`."""
    real, count = os.write, [0]

    def write(handle: int, data: Any) -> int:
        count[0] += 1
        if count[0] == nth:
            if short:
                return real(handle, bytes(data)[: len(data) // 2])
            raise OSError(number, os.strerror(number))
        if short and count[0] == nth + 1:
            raise OSError(number, os.strerror(number))
        return real(handle, data)

    monkeypatch.setattr(appending.os, "write", write)
    return count


def snapshot(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in [*store.shards(), *store.journals()]}


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("first", [True, False])
def test_a_full_disk_writes_nothing_anywhere(
    store: Store, monkeypatch: pytest.MonkeyPatch, nth: int, short: bool, first: bool
) -> None:
    """Journal or log, a failed or a short write, the first event of a file or a later one."""
    if not first:
        put(store, "before")
    before = snapshot(store)
    with monkeypatch.context() as patch:
        fail_at(patch, nth, errno.ENOSPC, short=short)
        error = refused(append, store.config, "main", [event(store.clock)], store.clock.now)
    assert (error.code, error.message) == (Exit.REFUSED, "Nothing was written: the disk is full.")
    assert error.hint
    assert snapshot(store) == before
    assert not has_pending(store.config)
    (new,) = put(store, "after")
    assert new in store.texts()
    store.assert_sound()


def test_a_short_write_that_goes_on_is_whole(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(appending.os, "write", lambda handle, data: real(handle, bytes(data)[:7]))
    put(store, "one", "two")
    monkeypatch.undo()
    store.assert_sound()
    assert len(store.texts()) == 2


@pytest.mark.parametrize("place", ["fsync", "open", "makedirs"])
def test_any_failure_of_the_disk_is_one_sentence_and_writes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    put(store, "before")
    before, shards = snapshot(store), [path.name for path in store.shards()]
    real: Callable[..., Any] = getattr(os, place)

    def fails(*args: Any, **kwargs: Any) -> Any:
        # The log alone: the journal is written by then and has to be taken back.
        if place == "fsync" and "log" in os.readlink(f"/proc/self/fd/{args[0]}").split(os.sep):
            raise OSError(errno.EIO, "input/output error")
        if place != "fsync" and "log" in str(args[0]).split(os.sep):
            raise PermissionError(errno.EACCES, "permission denied", args[0])
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(appending.os, place, fails)
        error = refused(append, store.config, "other", [event(store.clock)], store.clock.now)
    assert error.message.startswith("Nothing was written:")
    assert error.hint
    assert snapshot(store) == before
    assert [path.name for path in store.shards()] == shards
    store.assert_sound()


def test_a_folder_that_cannot_be_written_is_refused_with_a_next_step(store: Store) -> None:
    """As another user, for root may write everywhere; reading goes on."""
    first = store.record("before")
    if os.geteuid() != 0:
        _check_read_only(store, first)
        return
    process = os.fork()
    if process == 0:
        code = 1
        try:
            for parent in store.root.parents:
                if parent.stat().st_uid == 0 and parent.stat().st_mode & 0o077 == 0:
                    os.chmod(parent, 0o755)
            for folder, _, names in os.walk(store.root.parent):
                os.chmod(folder, 0o755)
                for name in names:
                    os.chmod(os.path.join(folder, name), 0o644)
            os.setegid(65534)
            os.seteuid(65534)
            _check_read_only(store, first)
            code = 0
        except BaseException:  # noqa: BLE001 (told by the parent)
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    store.assert_sound()


def _check_read_only(store: Store, first: str) -> None:
    config = load(str(store.root))
    error = refused(append, config, "main", [event(store.clock)], store.clock.now)
    assert error.message.startswith("Nothing was written:")
    assert error.hint
    assert store.standings() == {first: "confirmed"}
    report = store.verify()
    assert report.sound, report.problems


def test_a_note_of_unfinished_work_is_finished_by_the_next_writer(store: Store) -> None:
    """The journal has the line, the log does not: as after a kill between the two."""
    put(store, "one")
    (shard,), (journal,) = store.shards(), store.journals()
    before = shard.read_bytes()
    (second,) = put(store, "two")
    block = shard.read_bytes()[len(before) :]
    shard.write_bytes(before)
    pending = Path(store.config.places.derived_dir) / "pending"
    pending.write_bytes(shard.stem.encode() + b"\n" + block)
    (third,) = put(store, "three")
    assert ids_in(shard)[-2:] == [second, third]
    assert not pending.exists()
    assert shard.read_bytes() == journal.read_bytes()
    store.assert_sound()


@pytest.mark.parametrize("cut", ["note", "journal"])
def test_of_a_batch_that_was_cut_short_the_whole_lines_reach_the_log(store: Store, cut: str) -> None:
    """A machine that stops in the middle of a write: the note or the journal ends within the second line of a batch."""
    put(store, "one")
    (shard,), (journal,) = store.shards(), store.journals()
    before = shard.read_bytes()
    batch = put(store, "two", "three")
    block = shard.read_bytes()[len(before) :]
    shard.write_bytes(before)
    half = block[:-30]
    journal.write_bytes(before + half)
    pending = Path(store.config.places.derived_dir) / "pending"
    pending.write_bytes(shard.stem.encode() + b"\n" + (half if cut == "note" else block))
    assert store.texts().keys() >= {batch[0]}
    assert not pending.exists()
    assert ids_in(shard)[-1] == batch[0]
    (after,) = put(store, "four")
    assert after in store.texts()
    report = store.verify()
    assert report.sound and {item.why for item in report.notes} == {"leftover"}


@pytest.mark.parametrize("text", [b"", b"garbage", b"\xff\xfe\n\x00", b"shard\nnot json\n"])
def test_a_note_that_cannot_be_read_is_dropped(store: Store, text: bytes) -> None:
    put(store, "one")
    pending = Path(store.config.places.derived_dir) / "pending"
    pending.write_bytes(text)
    assert len(store.texts()) == 1
    put(store, "two")
    assert not pending.exists()
    store.assert_sound()


def test_a_note_whose_line_never_reached_the_journal_leaves_nothing(store: Store) -> None:
    put(store, "one")
    (shard,) = store.shards()
    before = shard.read_bytes()
    pending = Path(store.config.places.derived_dir) / "pending"
    line = canonical({**event(store.clock), "h": "0" * 32, "prev": "0" * 32, "shard": shard.stem})
    pending.write_bytes(shard.stem.encode() + b"\n" + line + b"\n")
    assert len(store.texts()) == 1
    assert shard.read_bytes() == before
    store.assert_sound()


def test_an_append_to_a_file_without_line_end_starts_on_a_fresh_line(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    for start in (b"", b"x", b"x\n", b"x\ny", b"\xff" * 300_000):
        path.write_bytes(start)
        append_block(str(path), b"new\n")
        assert path.read_bytes() == start + (b"\n" if start and not start.endswith(b"\n") else b"") + b"new\n"


def test_the_last_event_is_found_behind_torn_and_foreign_lines(store: Store) -> None:
    put(store, "one", "two")
    (shard,) = store.shards()
    data = shard.read_bytes()
    tip = last_line(str(shard), shard.stem, store.config.project)
    assert tip is not None
    for junk in (b"{", b"<<<<<<< HEAD\n", b"\x00\n", data.splitlines()[-1][:-4], b"\xef\xbb\xbf\n", b"z" * 400_000):
        shard.write_bytes(data + junk)
        found = last_line(str(shard), shard.stem, store.config.project)
        assert found is not None
        assert found.h == tip.h, junk[:20]
    assert last_line(str(shard) + ".missing", shard.stem, store.config.project) is None


def test_private_mode_writes_the_journal_alone(repo: Path) -> None:
    store = Store(repo).init(private=True)
    store.record("one")
    assert store.shards() == []
    assert len(store.journals()) == 1
    assert store.git("status", "--porcelain") == ""
    store.assert_sound()


def test_a_copied_work_tree_writes_as_somebody_else(store: Store, tmp_path: Path) -> None:
    put(store, "one")
    copy = Store(Path(shutil.copytree(store.root, tmp_path / "copy", symlinks=True)), store.clock)
    put(copy, "two")
    put(store, "three")
    assert {path.name for path in copy.shards()} - {path.name for path in store.shards()}
    for one in (store, copy):
        assert len(one.texts()) == 2
        one.assert_sound()


def test_one_line_of_an_event_is_json_that_any_tool_reads(store: Store) -> None:
    text = "line\u2028sep \u2029 nul\x00 bell\x07 del\x7f c1\x85 bom\ufeff emoji 🙂 <b>&"
    put(store, text)
    raw = store.shards()[0].read_bytes()
    assert raw.count(b"\n") == 1
    assert len(raw.decode().splitlines()) == 1
    assert json.loads(raw)["summary"] == text


def test_what_cannot_be_written_as_json_raises_and_writes_nothing(store: Store) -> None:
    put(store, "one")
    before = snapshot(store)
    with pytest.raises((ValueError, BackstoryError)):
        append(store.config, "main", [event(store.clock, number=float("nan"))], store.clock.now)
    assert snapshot(store) == before


@pytest.mark.parametrize("name", ["pending", "writer"])
def test_a_private_file_of_the_writer_that_cannot_be_written_is_one_sentence(store: Store, name: str) -> None:
    """Something of another kind stands where the note or the writer's id belongs."""
    put(store, "before")
    before = snapshot(store)
    path = Path(store.config.places.derived_dir) / name
    path.unlink(missing_ok=True)
    (path / "not empty").mkdir(parents=True)
    error = refused(append, store.config, "main", [event(store.clock)], store.clock.now)
    assert error.code == Exit.REFUSED and error.message.startswith("Nothing was written:") and error.hint
    assert snapshot(store) == before
    assert len(store.texts()) == 1
    shutil.rmtree(path)
    put(store, "after")
    assert len(store.texts()) == 2


def test_a_note_that_cannot_be_finished_waits_for_a_better_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log cannot be written just now: reading goes on, and nothing is forgotten."""
    put(store, "one")
    (shard,) = store.shards()
    before = shard.read_bytes()
    (second,) = put(store, "two")
    pending = Path(store.config.places.derived_dir) / "pending"
    pending.write_bytes(shard.stem.encode() + b"\n" + shard.read_bytes()[len(before) :])
    shard.write_bytes(before)

    def fails(path: str, block: bytes) -> None:
        raise PermissionError(errno.EACCES, "permission denied", path)

    with monkeypatch.context() as patch:
        patch.setattr(appending, "append_block", fails)
        assert second in store.texts()
        assert pending.exists()
    assert second in store.in_tree()
    assert not pending.exists()
    store.assert_sound()
