"""Names of shards and journal files, and the writer's id."""

import os
from pathlib import Path

import pytest

from backstory.log.names import branch_key, files, is_shard, journal_name, shard_name, stem, writer_id
from tests.storekit import Store


def test_a_shard_is_month_writer_and_branch() -> None:
    assert shard_name("202602", "abcdefgh", "main") == f"202602-abcdefgh-{branch_key('main')}"
    assert journal_name("202602", "abcdefgh") == "202602-abcdefgh"
    assert is_shard(shard_name("202602", "0v9z8y7x", "feature/ünï"))
    assert is_shard(journal_name("202602", "0v9z8y7x"))


@pytest.mark.parametrize(
    "name", ["", "notes", "202602", "202602-ABCDEFGH", "202602-abcdefgh-xyz", "../202602-abcdefgh"]
)
def test_other_names_are_none(name: str) -> None:
    assert not is_shard(name)


def test_branches_and_generations_have_keys_of_their_own() -> None:
    keys = {branch_key(name, number) for name in ("main", "Main", "", "feature/a", "\udcff") for number in range(20)}
    assert len(keys) == 100


def test_the_writer_stays_the_same_and_is_made_anew_in_a_copy_or_a_moved_folder(repo: Path, tmp_path: Path) -> None:
    store = Store(repo).init()
    first = writer_id(store.config.places)
    assert writer_id(store.config.places) == first
    moved = tmp_path / "moved"
    repo.rename(moved)
    assert writer_id(Store(moved).config.places) != first


@pytest.mark.parametrize("content", [b"", b"abc", b"abcdefgh", b"\xff\xff\n/x\n", b"../../xx\n%s\n", b"ABCDEFGH\n%s\n"])
def test_a_damaged_id_file_is_replaced(repo: Path, content: bytes) -> None:
    store = Store(repo).init()
    first = writer_id(store.config.places)
    path = Path(store.config.places.derived_dir) / "writer"
    path.write_bytes(content.replace(b"%s", os.fsencode(store.config.root)))
    second = writer_id(store.config.places)
    assert second != first and is_shard(f"202601-{second}")
    assert writer_id(store.config.places) == second


def test_links_and_other_files_are_no_files_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text("")
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "c.txt").write_text("")
    (tmp_path / "d.jsonl").mkdir()
    (tmp_path / "e.jsonl").symlink_to(tmp_path / "a.jsonl")
    assert [stem(path) for path in files(str(tmp_path))] == ["a", "b"]
    assert files(str(tmp_path / "missing")) == []
