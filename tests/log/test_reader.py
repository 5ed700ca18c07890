"""Reading: each bad line is reported with file and line, is kept as it is, and hides no other."""

import json
import random
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest

from backstory.config import state_dir
from backstory.log import reader
from backstory.log.append import append
from backstory.log.reader import WHY, Line, Problem, lines, tail_of
from backstory.project.verifying import FIXES
from backstory.records.codec import canonical, seal
from backstory.records.event import LINE_LIMIT
from backstory.records.ids import new_id
from backstory.records.times import format_instant
from tests.storekit import Store, assert_rebuilt_is_equal, refused


@pytest.fixture
def store(repo: Path) -> Store:
    """Three entries, committed."""
    made = Store(repo).init()
    for text in ("first entry", "second entry", "third entry"):
        made.record(text)
    made.commit()
    return made


def shard(store: Store) -> Path:
    (path,) = store.shards()
    return path


def drop_journal(store: Store) -> None:
    """As in a fresh clone: the log is all there is to go by."""
    for path in store.journals():
        path.unlink()
    (Path(store.config.places.derived_dir) / "writer").unlink()
    shutil.rmtree(state_dir())


def judged(path: Path) -> list[str]:
    return [item.why if isinstance(item, Problem) else item.head.id for item in lines(str(path))]


def test_every_kind_of_problem_has_words_and_a_next_step() -> None:
    assert {slug for slug in WHY if slug not in FIXES} == {"version"}
    assert set(FIXES) <= set(WHY)


@pytest.mark.parametrize(
    ("junk", "why"),
    [
        (b"<<<<<<< HEAD", "marker"),
        (b"=======", "marker"),
        (b">>>>>>> side", "marker"),
        (b"||||||| base", "marker"),
        (b"not json", "corrupt"),
        (b"{}", "corrupt"),
        (b"[1]", "corrupt"),
        (b'{"id":1,"kind":2,"at":3}', "corrupt"),
        (b"\x00\x00\x00\x00", "corrupt"),
        (b"\xff\xfe\xfd", "corrupt"),
        (b'{"id":"01', "leftover"),
        (b"[" * 50_000, "corrupt"),
        (b'{"a":' * 10_000, "leftover"),
        (b"x" * (LINE_LIMIT + 1), "long"),
        (b'{"id":"A","kind":"note","at":"2026-01-01T00:00:00.000000Z"}', "shard"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_junk_between_the_lines_is_reported_there_and_hides_nothing(
    store: Store, junk: bytes, why: str, place: int
) -> None:
    known = set(store.texts())
    path = shard(store)
    data = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*data[:place], junk, b"\n", *data[place:]]))
    assert set(store.texts()) == known
    report = store.verify()
    found = {(item.why, item.line) for item in (*report.problems, *report.notes)}
    assert found == {(why, place + 1)}
    assert {(item.why, item.line) for item in store.problems()} == found
    assert report.sound == (why in ("marker", "leftover"))
    new = store.record("after the junk")
    assert set(store.texts()) == known | {new}
    assert junk in b"".join(file.read_bytes() for file in store.shards())
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_empty_lines_are_nothing(store: Store, count: int) -> None:
    path = shard(store)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n" * (count + 1)))
    store.assert_sound()
    store.record("after")
    store.assert_sound()
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize("change", ["crlf", "bom", "both"])
def test_what_editors_and_windows_do_to_a_file_costs_nothing(store: Store, change: str) -> None:
    known = set(store.texts())
    path = shard(store)
    data = path.read_bytes()
    if change != "bom":
        data = data.replace(b"\n", b"\r\n")
    path.write_bytes((b"\xef\xbb\xbf" if change != "crlf" else b"") + data)
    store.assert_sound()
    assert set(store.texts()) == known
    new = store.record("after")
    store.assert_sound()
    assert set(store.texts()) == known | {new}
    assert_rebuilt_is_equal(store)


def test_flipped_bits_never_pass_and_hide_no_other_line(store: Store) -> None:
    """One bit of the middle line at a time. What a line says never changes unseen."""
    drop_journal(store)
    known = store.texts()
    path = shard(store)
    data = path.read_bytes()
    whole = data.splitlines(keepends=True)
    start, size = len(whole[0]), len(whole[1])
    random_bits = random.Random(7)
    for place in sorted(random_bits.sample(range(start, start + size), 60)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << random_bits.randrange(8)
        path.write_bytes(bytes(flipped))
        found = store.texts()
        for id_ in (min(known), max(known)):
            # A bit in the line end joins two lines into one that is neither.
            assert found.get(id_) == known[id_] or place == start + size - 1, place
        middle = sorted(known)[1]
        assert found.get(middle) in (None, known[middle])
        verified, read = store.whys()
        if found != known or path.read_bytes().splitlines()[1] != whole[1].rstrip():
            assert verified and read, (place, flipped[place])
    path.write_bytes(data)
    store.assert_sound()
    assert store.texts() == known


def test_a_file_without_line_ends_is_not_held_in_memory_and_hides_no_file(store: Store) -> None:
    known = set(store.texts())
    path = shard(store)
    other = path.with_name(path.name.replace(path.stem, "202601-abcdefgh-00000000"))
    with open(other, "wb") as file:
        for _ in range(30):
            file.write(b"z" * (1 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert next(item.why for item in lines(str(other)) if isinstance(item, Problem)) == "long"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    assert set(store.texts()) == known
    verified, read = store.whys()
    assert "long" in verified and "long" in read


def test_an_event_behind_a_giant_piece_without_line_end_is_read(store: Store) -> None:
    """The offsets stay right: what is appended later starts where the reader left off."""
    drop_journal(store)
    store.record("mine")
    path = max(store.shards(), key=lambda item: item.stat().st_mtime_ns)
    with open(path, "ab") as file:
        file.write(b"z" * (9 << 20))
    assert len(store.texts()) == 4
    store.record("later")
    store.record("last")
    assert len(store.texts()) == 6
    assert_rebuilt_is_equal(store)


def foreign_line(store: Store, project: str, name: str, **fields: Any) -> bytes:
    now = store.clock()
    event = {
        "kind": "note", "id": new_id(now), "at": format_instant(now), "by": {"kind": "person"},
        "summary": "from elsewhere", **fields,
    }  # fmt: skip
    from backstory.records.codec import first_prev

    return canonical(seal(event, project, name, first_prev(project, name))) + b"\n"


def test_a_line_of_another_project_is_refused(store: Store) -> None:
    path = store.config.places.log_dir + "/202602-abcdefgh-00000000.jsonl"
    Path(path).write_bytes(foreign_line(store, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "202602-abcdefgh-00000000"))
    assert len(store.texts()) == 3
    assert "from elsewhere" not in store.texts().values()
    verified, read = store.whys()
    assert verified == read == {"hash"}


def test_a_project_that_was_joined_is_read_once_it_is_named(store: Store) -> None:
    """Two people ran `init`; `also` names the id that gave way. Files that were read before are read again."""
    name = "202602-abcdefgh-00000000"
    Path(f"{store.config.places.log_dir}/{name}.jsonl").write_bytes(
        foreign_line(store, "01ARZ3NDEKTSV4RRFFQ69G5FAV", name)
    )
    assert len(store.texts()) == 3
    marker = Path(store.config.places.marker)
    marker.write_text(marker.read_text() + 'also = ["01ARZ3NDEKTSV4RRFFQ69G5FAV"]\n')
    assert len(store.texts()) == 4
    store.assert_sound()
    marker.write_text(marker.read_text().replace("also", "formerly"))
    assert len(store.texts()) == 3


def test_a_line_in_the_wrong_file_is_refused(store: Store) -> None:
    path = shard(store)
    other = path.with_name("202601-abcdefgh-00000000.jsonl")
    other.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    verified, read = store.whys()
    assert verified == read == {"shard"}


def test_a_file_that_is_no_shard_is_named(store: Store) -> None:
    folder = shard(store).parent
    (folder / "notes.jsonl").write_text("")
    verified, read = store.whys()
    assert verified == read == {"shard"}
    (folder / "notes.jsonl").unlink()
    (folder / "README.md").write_text("not ours")
    store.assert_sound()


@pytest.mark.parametrize(
    "change",
    [
        {"files": "not a list"},
        {"summary": 7},
        {"valid_from": "2026-01-01T00:00:00"},
        {"valid_until": "tomorrow"},
        {"decay_days": 10**30},
        {"decay_days": -4},
        {"supersedes": {"a": 1}},
    ],
)
def test_an_event_that_says_something_impossible_is_kept_reported_and_stops_nothing(
    store: Store, change: dict[str, Any]
) -> None:
    """Its hash is right: another version or a hand wrote it."""
    name = "202602-abcdefgh-00000000"
    Path(f"{store.config.places.log_dir}/{name}.jsonl").write_bytes(
        foreign_line(store, store.config.project, name, **change)
    )
    assert len(store.texts()) == 3
    verified, read = store.whys()
    assert verified == read == {"shape"}
    store.record("goes on")
    assert len(store.texts()) == 4
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize("at", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000+02:00", "yesterday", ""])
def test_an_instant_that_would_sort_wrongly_is_no_event(store: Store, at: str) -> None:
    name = "202602-abcdefgh-00000000"
    Path(f"{store.config.places.log_dir}/{name}.jsonl").write_bytes(
        foreign_line(store, store.config.project, name, at=at)
    )
    assert len(store.texts()) == 3
    verified, read = store.whys()
    assert verified == read == {"corrupt"}


def test_a_line_of_a_newer_version_is_kept_and_noted(store: Store) -> None:
    name = "202602-abcdefgh-00000000"
    line = foreign_line(store, store.config.project, name, v=2, kind="forecast", confidence=0.7)
    Path(f"{store.config.places.log_dir}/{name}.jsonl").write_bytes(line)
    report = store.verify()
    assert report.sound
    assert [item.why for item in report.notes] == ["version"]
    assert report.unknown_kinds == {"forecast": 1}
    assert [item.why for item in store.problems()] == ["version"]


def test_a_name_that_stands_twice_in_a_line_is_an_edit(store: Store) -> None:
    """Readers differ on which of the two they take: the hash must not be asked of one and the eye shown the other."""
    path = shard(store)
    lines_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines_[0], b'{"summary":"something else",' + lines_[1][1:], lines_[2]]))
    verified, read = store.whys()
    assert "hash" in verified and "hash" in read


def test_a_line_that_a_tool_wrote_with_spaces_is_the_same_event(store: Store) -> None:
    path = shard(store)
    known = store.texts()
    path.write_text("".join(json.dumps(json.loads(line)) + "\n" for line in path.read_text().splitlines()))
    store.assert_sound()
    assert store.texts() == known


def test_a_duplicate_line_is_folded_and_counted(store: Store) -> None:
    path = shard(store)
    data = path.read_bytes()
    path.write_bytes(data + data.splitlines(keepends=True)[0])
    report = store.verify()
    assert (report.sound, report.folded, report.events) == (True, 1, 3)
    assert len(store.texts()) == 3


def test_the_tail_is_what_follows_the_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in (b"", b"a", b"a\n", b"a\nb", b"\n", b"x" * 300_000, b"y\n" + b"x" * 300_000):
        path.write_bytes(data)
        assert tail_of(str(path))[1][-9:] == data[data.rfind(b"\n") + 1 :][-9:]


def test_reading_from_an_offset_gives_the_rest_and_its_line_numbers(store: Store) -> None:
    path = shard(store)
    every = [item for item in lines(str(path)) if isinstance(item, Line)]
    for first in every:
        rest = list(lines(str(path), first.end, first.number))
        assert rest == every[first.number :]


def test_chunks_split_anywhere_give_the_same_lines(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shard(store)
    path.write_bytes(path.read_bytes() + b"torn {")
    expected = list(lines(str(path)))
    for size in (1, 2, 3, 7, 64, 1000):
        monkeypatch.setattr(reader, "_CHUNK", size)
        assert list(lines(str(path))) == expected


# -- what this version does not know


def unknown(store: Store) -> list[str]:
    """An event of an unknown kind and an entry with unknown fields, written as a newer version would."""
    now = store.clock()
    common = {"at": format_instant(now), "by": {"kind": "person", "name": "Ada", "badge": 9}}
    events = [
        {"kind": "forecast", "id": new_id(now), "odds": [1, 2.5], "π": {"x": None}, **common},
        {"kind": "note", "id": new_id(now), "summary": "known kind", "mood": {"deep": ["ü", True]}, **common},
    ]
    return [item["id"] for item in append(store.config, "side", events, now)]


def fields_of(store: Store, id_: str) -> dict[str, Any]:
    for path in store.shards():
        for line in path.read_bytes().splitlines():
            fields: dict[str, Any] = json.loads(line)
            if fields["id"] == id_:
                return fields
    raise AssertionError(id_)


def test_unknown_kinds_and_fields_survive_the_redaction_of_others(store: Store) -> None:
    ids = unknown(store)
    before = [fields_of(store, id_) for id_ in ids]
    secret = store.record("other entry")
    store.redact(secret)
    assert [fields_of(store, id_) for id_ in ids] == before
    report = store.verify()
    assert report.sound, report.problems
    assert report.unknown_kinds == {"forecast": 1}


def test_unknown_fields_survive_publishing(store: Store) -> None:
    from backstory.project.publishing import publish

    store.git("switch", "-q", "-c", "side")
    _, known = unknown(store)
    before = fields_of(store, known)
    store.git("stash", "-q", "-u")
    store.git("switch", "-q", "main")
    assert known not in store.in_tree()
    with store.open() as project:
        publish(project, [known])
    after = fields_of(store, known)
    assert after.pop("origin") == before["shard"]
    places = ("h", "prev", "shard")
    assert {k: v for k, v in after.items() if k not in places} == {k: v for k, v in before.items() if k not in places}
    store.assert_sound()
    assert refused(lambda: _publish(store, known)).code == 4


def _publish(store: Store, id_: str) -> None:
    from backstory.project.publishing import publish

    with store.open() as project:
        publish(project, [id_])
