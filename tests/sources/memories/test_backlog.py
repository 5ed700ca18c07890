"""Backlog.md: tasks with all that they say, what closed them, and everything that is odd about them."""

from pathlib import Path

import pytest

from backstory.sources.memories import backlog
from tests.sources.memories.told import Told, put, told

DONE = """\
---
id: task-7
title: Keep the port of the last run
status: Done
assignee: ['@mona']
created_date: '2026-03-01 10:30'
updated_date: 2026-03-04
labels: [web, settings]
dependencies: [task-8]
modified_files: [src/port.py]
priority: high
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
The server picks a new port at each start.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 A port that is free again is taken again
<!-- AC:END -->

## Final Summary

**Kept** the port in the state folder.

More words about it.
"""
OPEN = "---\nid: task-8\ntitle: A state folder\nstatus: To Do\ncreated_date: 2026-02-01\n---\nWhere it lies.\n"
ADR = "---\nid: decision-1\ntitle: Loopback only\nstatus: accepted\ndate: 2026-01-05\n---\n" \
      "## Context\n\nOthers could reach it.\n\n## Decision\n\nBind to loopback.\n"  # fmt: skip
TREE = {
    "config.yml": 'project_name: "Port"\nstatuses: ["To Do", "Doing", "Done"]\n',
    "tasks/task-7 - Keep-the-port.md": DONE,
    "tasks/task-8 - A-state-folder.md": OPEN,
    "drafts/task-9 - Maybe.md": "---\nid: task-9\ntitle: Maybe\nstatus: Draft\n---\nSome day.\n",
    "completed/task-5 - Old.md": "---\nid: task-5\ntitle: Old\nstatus: Done\n---\n",
    "archive/tasks/task-4 - Gone.md": "---\nid: task-4\ntitle: Gone\nstatus: To Do\n---\nNo more.\n",
    "decisions/decision-1 - Loopback.md": ADR,
    "docs/doc-1 - Ports.md": "---\nid: doc-1\ntitle: Ports\ncreated_date: 2026-01-02\n---\nA list of ports.\n",
    "docs/readme.md": "What lies here.\n",
    "milestones/m-1 - First.md": "---\nid: m-1\ntitle: First release\n---\nWhat it takes.\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return put(tmp_path / "backlog", TREE)


def read(folder: Path) -> Told:
    return told(backlog.read(str(folder)))


def test_tasks_documents_and_decisions_come_and_what_is_finished_is_a_fix(tree: Path) -> None:
    found = read(tree)
    assert found.kinds() == {"decision": 1, "fix": 2, "issue": 5, "note": 2}
    assert {item.fields["summary"] for item in found.items if item.ended} == {"Gone"}
    assert [one.why for one in found.skipped] == ["no document: it speaks about the folder"]
    assert found.warned == []
    assert found.item("Closed: Old").case == "task-5"


def test_a_task_keeps_its_fields_and_all_its_text_without_the_marks_of_the_tool(tree: Path) -> None:
    task = read(tree).item("Keep the port of the last run")
    detail = task.fields["detail"]
    for said in ("depends on: task-8", "labels: web, settings", "priority: high", "assigned to: @mona",
                 "picks a new port", "A port that is free again", "More words about it."):  # fmt: skip
        assert said in detail
    assert "SECTION:" not in detail
    assert task.fields["aliases"] == ["task-7"]
    assert task.fields["files"] == ["src/port.py"]
    assert task.place == "tasks/task-7 - Keep-the-port.md (task-7)"


def test_what_closed_a_task_is_the_first_paragraph_of_its_summary(tree: Path) -> None:
    fix = read(tree).item("Kept the port in the state folder.")
    assert (fix.kind, fix.case, fix.key) == ("fix", "task-7", "task-7 closed")


def test_a_time_without_a_zone_is_utc_and_counted_and_a_day_is_its_first_moment(tree: Path) -> None:
    found = read(tree)
    timed, day = found.item("Keep the port of the last run"), found.item("A state folder")
    assert (timed.at, timed.naive) == (1_772_361_000_000_000, True)
    assert (day.at, day.naive) == (1_769_904_000_000_000, False)


def test_every_irregularity_is_said_with_file_and_line(tree: Path) -> None:
    put(tree, {
        "tasks/task-8 - Twin.md": "---\nid: task-8\ntitle: Twin\nstatus: Doing\ncreated_date: soon\n---\nText\n",
        "tasks/task-10 - Odd.md": "---\nid: task-10\ntitle: Odd\nstatus: Simmering\ndependencies: [task-99]\n---\nx\n",
        "tasks/task-11 - Broken.md": "---\nid: task-11\ntitle: Broken\nassignee: @me\nstatus: To Do\n---\nx\n",
        "tasks/task-12.md": "No fields at all.\n",
        "tasks/empty.md": "",
        "completed/task-13 - Open.md": "---\nid: task-13\ntitle: Open\nstatus: To Do\n---\nx\n",
    })  # fmt: skip
    found = read(tree)
    said = {(Path(one.file).name, one.line, one.why.split(",")[0].split(";")[0]) for one in found.warned}
    assert said == {
        ("task-8 - Twin.md", 2, "the id task-8 is also that of tasks/task-8 - A-state-folder.md"),
        ("task-8 - Twin.md", 5, "no date: 'soon'"),
        ("task-10 - Odd.md", 4, "the status 'Simmering' is unknown"),
        ("task-10 - Odd.md", 5, "task-10 names task-99"),
        ("task-11 - Broken.md", 4, "this is not valid YAML (found character that cannot start any token)"),
        ("task-12.md", 0, "it gives no id"),
        ("task-12.md", 0, "it gives no title"),
        ("task-12.md", 0, "it gives no status"),
        ("completed/task-13 - Open.md".split("/")[1], 4, "it lies in completed with the status 'To Do'"),
    }
    assert ("empty.md", "an empty file") in {(Path(one.file).name, one.why) for one in found.skipped}
    assert {item.key for item in found.items if item.kind == "issue"} >= {"task-8", "task-8 tasks/task-8 - Twin.md"}
    assert found.item("Broken").fields["aliases"] == ["task-11"]


def test_a_task_that_was_given_up_no_longer_holds_and_an_open_one_does(tree: Path) -> None:
    put(tree, {"tasks/task-20 - No.md": "---\nid: task-20\ntitle: No\nstatus: Won't Do\n---\nx\n"})
    found = read(tree)
    assert found.item("No").ended == "Won't Do there"
    assert found.item("A state folder").ended == ""


def test_it_knows_its_folder_and_what_holds_it_and_no_other(tree: Path, tmp_path: Path) -> None:
    assert backlog.takes(str(tree)) == backlog.takes(str(tmp_path)) == str(tree)
    other = put(tmp_path / "other", {"tasks/a.md": "x"})
    assert backlog.takes(str(other)) == ""
    assert backlog.takes(str(put(other, {"config.yml": "x: y"}))) == str(other)
