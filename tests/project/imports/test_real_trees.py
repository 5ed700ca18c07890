"""Real memories of other tools, where a folder of clones is given: counts are held against the files themselves.

`MEMORY_TREES` names a folder with a clone of each repository as `owner/name`. What is not there is skipped.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from backstory.project import answers
from backstory.project.imports.running import TakenIn, source_of, take_in
from backstory.project.opened import Project
from backstory.project.refresh import open_project
from tests.project.sessions.conftest import made_project

TREES = os.environ.get("MEMORY_TREES", "")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def tree(name: str, inside: str) -> Path:
    if not TREES:
        pytest.skip("MEMORY_TREES names no folder with clones of real memories")
    path = Path(TREES, name, inside)
    if not path.exists():
        pytest.skip(f"{path} is not there; clone {name} to read it")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Project]:
    with open_project(str(made_project(tmp_path / "proj"))) as project:
        yield project


def imported(memory: Project, path: Path) -> TakenIn:
    """A dry run, the run and a second one: the same numbers, and nothing new."""
    found = source_of(str(path))
    assert found is not None
    planned = take_in(memory, found[1], found[0], dry_run=True)
    done = take_in(memory, found[1], found[0])
    again = take_in(memory, found[1], found[0])
    assert planned == msgspec.structs.replace(done, dry_run=True)
    assert (again.added, again.continued) == ({}, 0)
    assert again.present + again.same == sum(done.added.values()) + done.same
    return done


def found_first(memory: Project, words: str) -> list[str]:
    return [hit.title for hit in answers.search(memory, words, standings=("proposed",)).hits]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_a_log_of_projectmem(memory: Project) -> None:
    path = tree("kuhyx/aseprite-mcp", ".projectmem/events.jsonl")
    done = imported(memory, path)
    assert sum(done.added.values()) + done.same + done.ended == len(lines(path))


def test_issues_of_beads(memory: Project) -> None:
    path = tree("steveyegge/beads", ".beads/issues.jsonl")
    records = {str(record["id"]): record for record in lines(path)}
    done = imported(memory, path)
    assert done.added["issue"] + done.ended == len(records)
    assert done.added["fix"] == sum(record["status"] == "closed" for record in records.values())
    last = list(records.values())[-1]
    assert last["title"] in found_first(memory, str(last["id"]))


def test_two_files_of_beads_that_share_ids(memory: Project) -> None:
    folder = tree("jleechanorg/beads", ".beads")
    files = [lines(path) for path in sorted(folder.glob("*.jsonl"))]
    ids = [str(record["id"]) for file in files for record in file]
    done = imported(memory, folder)
    assert done.added["issue"] + done.ended == len(set(ids))
    assert sum(" stands in " in note for note in done.notes) == len(ids) - len(set(ids))


def test_the_tasks_of_backlog_md(memory: Project) -> None:
    folder = tree("MrLesk/Backlog.md", "backlog")
    tasks = [path for name in ("tasks", "completed", "drafts") for path in (folder / name).rglob("*.md")]
    tasks = [path for path in tasks if path.name.lower() != "readme.md"]
    done = imported(memory, folder)
    assert done.added["issue"] == len(tasks)
    finished = [path for path in tasks if re.search(r"(?m)^status: \W*Done\W*$", path.read_text(encoding="utf-8"))]
    assert done.added["fix"] == len(finished)
    assert "Feature: Auto-link tasks to documents/decisions + backlinks" in found_first(memory, "BACK-239")


def test_decision_records_in_japanese(memory: Project) -> None:
    folder = tree("Kaikei-e/Alt", "docs/ADR")
    done = imported(memory, folder)
    assert done.added["decision"] + done.ended + done.unreadable == len(list(folder.glob("*.md")))
    assert found_first(memory, "\u7e2e\u9000")


def test_the_memory_of_claude_code(memory: Project) -> None:
    folder = tree("4444J99/application-pipeline", ".claude/memory")
    done = imported(memory, folder)
    assert done.added["note"] + done.same + done.unreadable == len(list(folder.rglob("*.md")))
