"""beads: the last line of an id, its links, and what is odd."""

import json
from pathlib import Path

from backstory.sources.memories import beads
from tests.sources.memories.told import Told, put, told


def read(folder: Path, *records: object, name: str = "issues.jsonl") -> Told:
    put(folder, {f".beads/{name}": "".join(f"{json.dumps(record)}\n" for record in records)})
    return told(beads.read(str(folder / ".beads")))


def test_links_labels_and_comments_are_words_of_the_issue(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"id": "q-1", "title": "Slow list", "labels": ["ui"], "comments": [{"author": "Mona", "text": "Seen too"}],
         "dependencies": [{"depends_on_id": "q-2", "type": "blocks"}, {"depends_on_id": "q-3", "type": "parent-child"},
                          {"depends_on_id": "q-2", "type": "tracks"}]},
        {"id": "q-2", "title": "No index"}, {"id": "q-3", "title": "Speed"},
    )  # fmt: skip
    detail = found.item("Slow list").fields["detail"]
    for said in ("depends on: q-2", "part of: q-3", "tracks: q-2", "labels: ui", "comment of Mona: Seen too"):
        assert said in detail
    assert found.warned == []


def test_a_link_to_nothing_an_unknown_status_and_a_bad_date_are_said_with_their_line(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"id": "q-1", "title": "Whole", "status": "open", "created_at": "2026-01-01T00:00:00Z"},
        {"id": "q-2", "title": "Odd", "status": "simmering", "created_at": "yesterday",
         "dependencies": [{"depends_on_id": "q-9"}, {"type": "blocks"}]},
    )  # fmt: skip
    assert [(one.line, one.why) for one in found.warned] == [
        (2, "the status 'simmering' of q-2 is unknown; read as open"),
        (2, "q-2 is linked to q-9, which is in none of the files"),
        (2, "a dependency of q-2 names no issue"),
        (2, "no date: 'yesterday'; it was left out"),
    ]
    assert (found.item("Whole").at, found.item("Odd").at) == (1_767_225_600_000_000, None)


def test_of_two_files_with_one_id_the_later_change_holds_and_both_places_are_said(tmp_path: Path) -> None:
    put(tmp_path, {".beads/a.jsonl": json.dumps({"id": "q-1", "title": "New", "updated_at": "2026-02-01T00:00:00Z"})})
    found = read(tmp_path, {"id": "q-1", "title": "Old", "updated_at": "2026-01-01T00:00:00Z"})
    assert [item.fields["summary"] for item in found.items] == ["New"]
    assert [(one.line, one.why) for one in found.warned] == [(1, "q-1 stands in a.jsonl:1 too; a.jsonl:1 holds")]


def test_an_empty_file_is_said_and_another_one_is_read(tmp_path: Path) -> None:
    put(tmp_path, {".beads/empty.jsonl": "\n"})
    found = read(tmp_path, {"id": "q-1", "title": "One"})
    assert [(Path(one.file).name, one.why) for one in found.skipped] == [("empty.jsonl", "an empty file")]
    assert found.kinds() == {"issue": 1}


def test_a_time_without_a_zone_is_counted(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"id": "q-1", "title": "Naive", "created_at": "2026-01-01 10:00:00"},
        {"id": "q-2", "title": "Aware", "created_at": "2026-01-01T10:00:00Z"},
    )
    assert found.item("Naive").at == found.item("Aware").at
    assert (found.item("Naive").naive, found.item("Aware").naive) == (True, False)
