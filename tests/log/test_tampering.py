"""Nine edits behind the store's back, in four settings: each is refused or reported, by `verify` and by the next read.

The settings: a log that was never committed, a committed one, private mode, a folder without git. An untouched store
raises nothing. Refused means that the fold takes no notice; of a repeated line the report counts that.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.log import heads
from backstory.project import integrity
from backstory.records.codec import canonical, read_fields, seal
from backstory.records.ids import new_id
from backstory.records.times import format_instant
from tests.storekit import Store, assert_rebuilt_is_equal, copy_tree, new_repo

SETTINGS = ("uncommitted", "committed", "private", "plain")


class Tampered:
    """A store with five events of which the fourth retires the second, read once; its truth as a list of files."""

    def __init__(self, folder: Path, setting: str) -> None:
        self.setting = setting
        if setting == "plain":
            folder.mkdir()
            self.store = Store(folder).init()
        else:
            self.store = Store(new_repo(folder)).init(private=setting == "private")
        texts = ("alpha one", "beta two", "gamma three", "delta four")
        self.ids = [self.store.record(text) for text in texts]
        self.store.do("retire", self.ids[1])
        if setting == "committed":
            self.store.commit()
        self.known = self.store.standings()
        assert self.known[self.ids[1]] == "retired"

    @property
    def truth(self) -> Path:
        """The file that this setting shares or keeps: the shard, in private mode the journal's file."""
        (path,) = self.store.journals() if self.setting == "private" else self.store.shards()
        return path

    @property
    def lines(self) -> list[bytes]:
        return self.truth.read_bytes().splitlines(keepends=True)

    @lines.setter
    def lines(self, lines: list[bytes]) -> None:
        self.truth.write_bytes(b"".join(lines))

    def reported(self) -> tuple[set[str], set[str]]:
        return self.store.whys()

    def assert_reported(self, *expected: str) -> None:
        """By a read with the index that was there, by `verify`, and by a read with an index made from nothing."""
        read = {item.why for item in self.store.problems()}
        verified = {item.why for item in self.store.verify().problems}
        self.store.forget_index()
        anew = {item.why for item in self.store.problems()}
        assert verified and read and anew, (verified, read, anew)
        assert verified & set(expected), verified
        assert read & set(expected), read
        assert anew & set(expected), anew


@pytest.fixture(params=SETTINGS)
def tampered(request: pytest.FixtureRequest, tmp_path: Path) -> Tampered:
    return Tampered(tmp_path / "project", request.param)


def test_the_untouched_twin_raises_nothing(tampered: Tampered) -> None:
    tampered.store.assert_sound()
    assert tampered.store.verify().folded == 0
    tampered.store.forget_index()
    tampered.store.assert_sound()
    assert tampered.store.standings() == tampered.known


@pytest.mark.parametrize("number", [0, 2, 4])
def test_1_an_edited_text_is_reported_and_not_believed(tampered: Tampered, number: int) -> None:
    lines = tampered.lines
    fields = json.loads(lines[number])
    fields["summary" if number < 4 else "reason"] = "something else entirely"
    lines[number] = canonical(fields) + b"\n"
    tampered.lines = lines
    assert "something else entirely" not in tampered.store.texts().values()
    tampered.assert_reported("hash")


@pytest.mark.parametrize("cut", ["lines", "bytes", "all"])
def test_2_a_cut_tail_is_reported(tampered: Tampered, cut: str) -> None:
    lines = tampered.lines
    if cut == "lines":
        tampered.lines = lines[:3]
    elif cut == "bytes":
        tampered.lines = [*lines[:4], lines[4][: len(lines[4]) // 2]]
    else:
        tampered.lines = []
    tampered.assert_reported("lost", "committed", "journal", "rollback", "torn")


def test_2_a_deleted_file_is_reported(tampered: Tampered) -> None:
    if tampered.setting == "uncommitted":
        pytest.skip("git explains it (stash -u, clean): the journal keeps all of it, which the next test shows")
    tampered.truth.unlink()
    tampered.assert_reported("committed", "journal", "rollback")


def test_2_an_uncommitted_shard_that_was_deleted_is_still_in_the_journal(tmp_path: Path) -> None:
    tampered = Tampered(tmp_path / "project", "uncommitted")
    tampered.truth.unlink()
    assert set(tampered.store.texts()) == set(tampered.ids)
    assert tampered.store.verify().not_in_tree == 5


@pytest.mark.parametrize("number", [0, 1, 3])
def test_3_a_deleted_line_in_the_middle_is_reported(tampered: Tampered, number: int) -> None:
    tampered.lines = [line for at, line in enumerate(tampered.lines) if at != number]
    tampered.assert_reported("prev")


@pytest.mark.parametrize("order", [(1, 0, 2, 3, 4), (0, 1, 2, 4, 3), (4, 3, 2, 1, 0)])
def test_4_another_order_is_reported_and_changes_no_answer(tampered: Tampered, order: tuple[int, ...]) -> None:
    lines = tampered.lines
    tampered.lines = [lines[number] for number in order]
    assert tampered.store.standings() == tampered.known
    tampered.assert_reported("order")


def forged(tampered: Tampered, after: int, **fields: Any) -> bytes:
    """A line as good as a forger can make it: right hash, a predecessor that exists."""
    store = tampered.store
    before = read_fields(tampered.lines[after])
    now = store.clock()
    event = {
        "kind": "decision", "id": new_id(now), "at": format_instant(now), "by": {"kind": "person", "name": "Ada"},
        "summary": "nobody said this", **fields,
    }  # fmt: skip
    return canonical(seal(event, store.config.project, str(before["shard"]), str(before["h"]))) + b"\n"


@pytest.mark.parametrize("after", [0, 2])
def test_5_an_inserted_line_with_a_right_hash_is_reported(tampered: Tampered, after: int) -> None:
    lines = tampered.lines
    lines.insert(after + 1, forged(tampered, after))
    tampered.lines = lines
    tampered.assert_reported("fork")


def test_5_an_inserted_line_without_a_right_hash_is_refused(tampered: Tampered) -> None:
    lines = tampered.lines
    lines.insert(2, forged(tampered, 1).replace(b"nobody", b"no one"))
    tampered.lines = lines
    assert tampered.store.standings() == tampered.known
    tampered.assert_reported("hash")


@pytest.mark.parametrize("setting", ["uncommitted", "committed"])
def test_5_a_line_added_at_the_end_in_the_name_of_this_clone_is_reported(tmp_path: Path, setting: str) -> None:
    """The journal knows what this clone wrote. (In a folder without git, and in the journal itself, a line added at
    the end with a right hash is what any writer does: nothing can tell.)"""
    tampered = Tampered(tmp_path / "project", setting)
    line = forged(tampered, 4)
    tampered.lines = [*tampered.lines, line]
    tampered.assert_reported("forged")
    standings = tampered.store.standings()
    assert standings.pop(str(read_fields(line)["id"])) == "proposed"
    assert standings == tampered.known


@pytest.mark.parametrize("where", ["end", "middle", "file"])
def test_6_lines_of_another_project_are_refused(tampered: Tampered, tmp_path: Path, where: str) -> None:
    other = Tampered(tmp_path / "other", tampered.setting)
    if where == "file":
        shutil.copy(other.truth, tampered.truth.parent)
    else:
        lines = tampered.lines
        lines[5 if where == "end" else 2 : 0 if where == "end" else 2] = other.lines[:1]
        tampered.lines = [*tampered.lines, other.lines[0]] if where == "end" else lines
    assert tampered.store.standings() == tampered.known
    tampered.assert_reported("hash", "shard")


@pytest.mark.parametrize("number", [0, 1, 4])
def test_7_an_older_line_said_again_has_no_effect_and_is_counted(tampered: Tampered, number: int) -> None:
    """Even the retired entry's own line, behind its retirement: it stays retired."""
    tampered.lines = [*tampered.lines, tampered.lines[number]]
    assert tampered.store.standings() == tampered.known
    assert tampered.store.verify().folded == 1
    tampered.store.forget_index()
    assert tampered.store.standings() == tampered.known


def test_7_an_older_line_said_again_in_another_shard_is_refused(tampered: Tampered) -> None:
    path = tampered.truth.with_name("202602-abcdefgh-00000000.jsonl")
    path.write_bytes(tampered.lines[1])
    assert tampered.store.standings() == tampered.known
    if tampered.setting == "private":
        # A journal file holds many shards; that the event before it is missing there shows the replay.
        tampered.assert_reported("prev")
    else:
        tampered.assert_reported("shard")


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields | {"at": "2020-01-01T00:00:00.000000Z"},
        lambda fields: fields | {"by": {"kind": "agent", "name": "x"}},
        lambda fields: fields | {"id": new_id(1)},
        lambda fields: fields | {"kind": "decision"},
        lambda fields: fields | {"pinned": True},
        lambda fields: fields | {"branch": "other"},
        lambda fields: fields | {"v": 2},
        lambda fields: fields | {"h": "0" * 32},
        lambda fields: fields | {"prev": "0" * 32},
        lambda fields: fields | {"shard": "202601-abcdefgh-00000000"},
        lambda fields: {name: value for name, value in fields.items() if name != "h"},
        lambda fields: {name: value for name, value in fields.items() if name != "branch"} | {"scope": ""},
        lambda fields: fields | {"redacted": True},
        lambda fields: (
            {k: v for k, v in fields.items() if k in ("id", "h", "prev", "at", "kind", "by", "shard")}
            | {"summary": "[redacted]", "redacted": True}
        ),
    ],
)
def test_8_edited_metadata_is_reported_and_not_believed(
    tampered: Tampered, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    lines = tampered.lines
    lines[2] = canonical(change(json.loads(lines[2]))) + b"\n"
    tampered.lines = lines
    if tampered.setting in ("private", "plain"):
        assert tampered.ids[2] not in tampered.store.standings()
    else:
        # The journal still has the line as it was written.
        assert tampered.store.standings()[tampered.ids[2]] == tampered.known[tampered.ids[2]]
    tampered.assert_reported("hash", "shard")


def test_8_a_renamed_file_is_reported(tampered: Tampered) -> None:
    path = tampered.truth
    target = path.with_name("202601-abcdefgh-00000000.jsonl")
    path.rename(target)
    if tampered.setting == "private":
        tampered.assert_reported("journal")
    else:
        tampered.assert_reported("shard")


def test_8_another_projects_identity_is_reported(tampered: Tampered) -> None:
    places = tampered.store.config.places
    for name in {places.marker, places.twin} - {""}:
        if Path(name).exists():
            text = Path(name).read_text()
            Path(name).write_text(text.replace(tampered.store.config.project, "01ARZ3NDEKTSV4RRFFQ69G5FAV"))
    assert tampered.store.standings() == {}
    tampered.assert_reported("hash")


@pytest.mark.parametrize("goes_on", [False, True])
def test_9_a_store_that_was_rolled_back_whole_is_reported(tampered: Tampered, tmp_path: Path, goes_on: bool) -> None:
    """Everything of it, git and index included, from a copy made earlier; also after it was written to again."""
    store = tampered.store
    copy_tree(store.root, tmp_path / "backup")
    store.record("epsilon five")
    store.do("retire", tampered.ids[0])
    if tampered.setting == "committed":
        store.commit()
    store.standings()
    shutil.rmtree(store.root)
    copy_tree(tmp_path / "backup", store.root)
    if goes_on:
        store.record("zeta six")
    assert tampered.ids[0] in store.standings()
    tampered.assert_reported("journal", "rollback")


def test_9_what_went_on_after_a_rollback_stays_reported_until_a_person_accepts_it(tmp_path: Path) -> None:
    tampered = Tampered(tmp_path / "project", "committed")
    store = tampered.store
    copy_tree(store.root, tmp_path / "backup")
    store.record("epsilon five")
    shutil.rmtree(store.root)
    copy_tree(tmp_path / "backup", store.root)
    for number in range(3):
        store.record(f"later {number}")
        tampered.assert_reported("journal")
    from backstory.project.integrity import keep_heads

    with store.open() as project:
        keep_heads(project, accept=True)
    assert not {item.why for item in store.verify().problems}


def test_the_tree_and_the_journal_cut_alike_are_reported_by_the_heads(tmp_path: Path) -> None:
    """A forger who knows of the journal too: what was seen last is kept outside of the store."""
    tampered = Tampered(tmp_path / "project", "uncommitted")
    for path in (*tampered.store.shards(), *tampered.store.journals()):
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    tampered.assert_reported("journal")


def test_a_foreign_shard_that_lost_lines_is_held_against_its_committed_version(tmp_path: Path) -> None:
    """In a clone that never read the memory before: no journal, no heads, only what git has."""
    tampered = Tampered(tmp_path / "project", "committed")
    origin = tampered.store
    origin.git("clone", "-q", str(origin.root), str(tmp_path / "clone"))
    clone = Store(tmp_path / "clone", origin.clock)
    (shard,) = clone.shards()
    shard.write_bytes(b"".join(shard.read_bytes().splitlines(keepends=True)[:3]))
    verified, read = clone.whys()
    assert "committed" in verified and "committed" in read
    clone.git("checkout", "-q", "--", ".")
    clone.assert_sound()
    shard.unlink()
    verified, read = clone.whys()
    assert "committed" in verified and "committed" in read


def test_damage_is_reported_once_however_often_it_is_read(tampered: Tampered) -> None:
    lines = tampered.lines
    lines[1] = lines[1].replace(b"beta", b"zeta")
    tampered.lines = lines
    first = tampered.store.problems()
    assert len(first) == len(set(first))
    for _ in range(2):
        tampered.store.record(f"goes on {tampered.store.clock.now}")
    again = [item for item in tampered.store.problems() if item.file.endswith(tampered.truth.name)]
    assert [(item.line, item.why) for item in again] == [(item.line, item.why) for item in first]
    assert_rebuilt_is_equal(tampered.store)


def test_what_git_restores_is_sound_again(tmp_path: Path) -> None:
    tampered = Tampered(tmp_path / "project", "committed")
    tampered.lines = tampered.lines[:2]
    tampered.assert_reported("committed")
    tampered.store.git("checkout", "-q", "--", ".backstory/log")
    tampered.store.assert_sound()


def test_a_line_that_a_writer_has_in_hand_while_the_files_are_read_is_not_lost(tmp_path: Path) -> None:
    """Readers take no lock: the log is read, then a line goes into journal and log, then the journal is read."""
    store = Store(new_repo(tmp_path / "repo")).init()
    store.record("alpha one")
    (shard,), (journal,) = store.shards(), store.journals()
    whole, known = shard.read_bytes(), journal.read_bytes()
    store.record("beta two")
    line = shard.read_bytes()[len(whole) :]
    grown = journal.read_bytes()
    pending = Path(store.config.places.derived_dir) / "pending"

    def state(at_first: bytes, at_last: bytes, note: bytes) -> set[str]:
        """What a first read finds when the log has `at_first` when it is read and `at_last` when it is compared."""
        shard.write_bytes(at_first)
        journal.write_bytes(grown)
        pending.unlink(missing_ok=True)
        real = integrity.compare

        def compare(*args: Any, **named: Any) -> None:
            shard.write_bytes(at_last)
            if note:
                pending.write_bytes(note)
            real(*args, **named)

        for path in Path(store.config.places.index_path).parent.glob("index.sqlite*"):
            path.unlink()
        heads.write(store.config, {})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(integrity, "compare", compare)
            return {item.why for item in store.problems()}

    assert grown.startswith(known) and line
    assert state(whole, whole + line, b"") == set(), "the writer was done before the comparison"
    assert state(whole, whole, shard.stem.encode() + b"\n" + line) == set(), "the writer is between journal and log"
    # Positive control: no writer has it in hand, and it is not in the file.
    assert state(whole, whole, b"") == {"lost"}
    assert state(whole, whole, shard.stem.encode() + b"\n" + whole) == {"lost"}
    shard.write_bytes(whole + line)
    pending.unlink(missing_ok=True)
    assert store.problems() == []
    store.assert_sound()
