"""Sources as a person imports them: what is read in place, what is machine-wide, times, and the dry run's numbers."""

import json
from pathlib import Path

import msgspec
import pytest

from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.imports.running import source_of, take_in
from backstory.project.opened import Project
from tests.project.imports.taking import taken
from tests.sources.memories.told import put

TASK = "---\nid: task-1\ntitle: Keep the port\nstatus: Done\ncreated_date: '2026-01-02 03:04'\n---\nAcross starts.\n"
ADR = "# 1. Use WAL\n\nStatus: accepted\n\n## Context\n\nReaders wait.\n\n## Decision\n\nSwitch to WAL.\n"
TREE = {
    "backlog/tasks/task-1 - Port.md": TASK,
    "backlog/docs/doc-1 - Ports.md": "# Ports\n\nA list.\n",
    "backlog/decisions/decision-1 - WAL.md": ADR,
}


def summaries(memory: Project) -> set[str]:
    return {view.summary for view in answers.review_queue(memory) if view.fields["by"]["name"] != "adr"}


def test_another_projects_backlog_is_taken_and_ones_own_is_read_in_place(memory: Project, tmp_path: Path) -> None:
    put(Path(memory.root), TREE)
    own = taken(memory, Path(memory.root) / "backlog")
    assert (own.added, own.in_place) == ({"note": 1}, 3)
    put(tmp_path / "other", {name.replace("1", "2"): text.replace("port", "gate") for name, text in TREE.items()})
    other = taken(memory, tmp_path / "other" / "backlog")
    assert other.added == {"decision": 1, "fix": 1, "issue": 1, "note": 1}
    assert (other.in_place, other.naive) == (0, 1)


def test_a_folder_of_decision_records_of_another_project_is_taken(memory: Project, tmp_path: Path) -> None:
    put(Path(memory.root), {"docs/adr/0001-wal.md": ADR})
    own = taken(memory, Path(memory.root) / "docs" / "adr")
    assert (own.added, own.in_place) == ({}, 1)
    other = taken(memory, put(tmp_path / "else" / "adr", {"0001-wal.md": ADR}))
    assert (other.added, other.in_place) == ({"decision": 1}, 0)
    assert taken(memory, tmp_path / "else" / "adr").present == 1


def test_what_projectmem_keeps_for_the_machine_comes_once(memory: Project, tmp_path: Path) -> None:
    gotcha = {"id": "got_1", "library": "httpx", "gotcha": "Dead sockets stay", "source_project": "mailer"}
    folder = put(tmp_path / ".projectmem" / "global", {"library_gotchas.jsonl": json.dumps(gotcha) + "\n"})
    assert taken(memory, folder).added == {"lesson": 1}
    view = next(view for view in answers.review_queue(memory))
    assert view.fields["libraries"] == ["httpx"]
    assert {"learned in mailer", "imported from projectmem, global/library_gotchas.jsonl:1"} <= set(view.evidence)
    assert (taken(memory, folder).added, taken(memory, folder).present) == ({}, 1)


def test_times_of_the_source_are_when_it_was_true_and_one_that_lies_ahead_is_left_out(
    memory: Project, tmp_path: Path
) -> None:
    put(tmp_path / "memory", {
        "a.md": "---\ntitle: A\ncreated: 2026-01-02 03:04\n---\nBody a\n",
        "b.md": "---\ntitle: B\ncreated: 2999-01-01\n---\nBody b\n",
    })  # fmt: skip
    done = taken(memory, tmp_path / "memory")
    assert (done.naive, done.odd) == (1, 1)
    assert any("b.md: its time lies ahead (2999-01-01)" in note for note in done.notes)
    views = {view.summary: view for view in answers.review_queue(memory)}
    assert views["A"].fields["valid_from"].startswith("2026-01-02T03:04:00")
    assert "valid_from" not in views["B"].fields


def test_a_dry_run_says_every_number_of_the_run_and_writes_nothing(memory: Project, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    rows = [
        {"id": "1", "kind": "issue", "summary": "Slow"}, {"id": "2", "kind": "issue", "summary": "Slow"},
        {"id": "2", "kind": "note", "summary": "An id that was used"}, {"id": "3", "summary": f"Key {secret}"},
        {"id": "4", "kind": "nonsense", "summary": "x"}, {"id": "5", "summary": "Long", "detail": "word " * 2_000},
        {"id": "6", "summary": "When", "at": "2026-01-01 10:00:00"}, {"id": "7", "kind": "trial", "summary": "T",
         "outcome": "exploded"}, {"id": "8"}, {"id": "9", "summary": "B", "at": "soon"},
    ]  # fmt: skip
    path = put(tmp_path, {"memory.json": json.dumps(rows)}) / "memory.json"
    before = summaries(memory)
    planned = taken(memory, path, dry_run=True)
    assert summaries(memory) == before
    done = taken(memory, path)
    assert planned == msgspec.structs.replace(done, dry_run=True)
    assert done.added == {"issue": 1, "note": 4}
    counts = (done.continued, done.same, done.refused, done.unreadable, done.odd, done.naive, done.redacted)
    assert counts == (2, 1, 1, 2, 2, 1, 1)


def test_a_source_that_is_not_there_is_refused_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(BackstoryError, match="is not there"):
        source_of(str(tmp_path / "none"), "backlog")
    assert source_of(str(put(tmp_path, {"backlog/tasks/a.md": TASK}) / "backlog"), "backlog") is not None


def test_a_folder_that_no_source_knows_is_refused_with_the_next_step_and_it_works(
    memory: Project, tmp_path: Path
) -> None:
    folder = put(tmp_path / "thoughts", {"a.md": "# A\n\nBody\n"})
    with pytest.raises(BackstoryError, match="no source is known") as refused:
        source_of(str(folder))
    assert "--from notes" in refused.value.hint
    found = source_of(str(folder), "notes")
    assert found is not None
    assert take_in(memory, found[1], found[0]).added == {"note": 1}


def test_names_of_files_in_subfolders_are_told_whole(memory: Project, tmp_path: Path) -> None:
    put(tmp_path / "memory", {"deep/a.md": "---\ntitle: A\ncreated: soon\n---\nBody\n", "b.md": "# B\n\nBody\n"})
    done = taken(memory, tmp_path / "memory")
    assert [note.split(": ")[0] for note in done.notes] == ["deep/a.md:3"]
