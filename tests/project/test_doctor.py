"""`doctor` and its repairs: what was damaged is named, `fix` heals it, and a healthy memory raises nothing."""

import json
import os
import shutil
from pathlib import Path

import duckdb
import pytest

from backstory.config import load
from backstory.project import answers, scanner
from backstory.project.doctor import DoctorReport, doctor
from backstory.project.doctoring import machine
from backstory.project.history.refresh import refresh
from backstory.project.refresh import open_project
from backstory.project.setup import init
from backstory.project.verifying import verify
from tests.project.memory import Memory


def run(memory: Memory, *, fix: bool = False) -> DoctorReport:
    return doctor(str(memory.root), fix=fix, now=memory.now)


def states(report: DoctorReport, name: str) -> list[str]:
    return [check.state for check in report.checks if check.name == name]


def ids(memory: Memory) -> list[str]:
    with memory.open() as project:
        return sorted(item.id for item in answers.get(project))


def shard(memory: Memory) -> Path:
    (found,) = (memory.root / ".backstory/log").glob("*.jsonl")
    return found


@pytest.fixture
def filled(memory: Memory) -> Memory:
    for number in range(5):
        memory.add("note", f"remark {number}")
    memory.commit("Keep them")
    return memory


def test_an_index_that_knows_renames_is_sound(memory: Memory) -> None:
    memory.commit("Add", src__a_py="one = 1\n" * 9)
    memory.add("note", "about a", files=["src/a.py"])
    memory.git("mv", "src/a.py", "src/b.py")
    memory.commit("Rename")
    with memory.open() as project:
        assert project.db.execute("SELECT count(*) FROM renames").fetchone()[0] == 1
    assert states(run(memory), "index") == ["good"]


def test_a_healthy_memory_raises_nothing(filled: Memory) -> None:
    for fix in (False, True, False):
        report = run(filled, fix=fix)
        assert report.healthy
        # A scanner, and a client that is not set up, are matters of the machine that runs the test.
        assert {check.state for check in report.checks if check.name not in ("secrets", "clients")} == {"good"}
    assert len(ids(filled)) == 5


def test_merge_markers_are_named_and_taken_out(filled: Memory) -> None:
    expected = ids(filled)
    lines = shard(filled).read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join([*lines[:2], "<<<<<<< HEAD\n", lines[2], "=======\n", *lines[3:], ">>>>>>> other\n"])
    shard(filled).write_text(text, encoding="utf-8")
    assert ids(filled) == expected
    assert any("marker" in check.message for check in run(filled).checks)
    fixed = run(filled, fix=True)
    assert "fixed" in states(fixed, "log") and fixed.healthy
    assert shard(filled).read_text(encoding="utf-8") == "".join(lines)
    assert run(filled).healthy


def test_lost_lines_are_put_back_from_the_journal(filled: Memory) -> None:
    expected = ids(filled)
    text = shard(filled).read_text(encoding="utf-8")
    shard(filled).write_text("".join(text.splitlines(keepends=True)[:2]), encoding="utf-8")
    report = run(filled)
    assert not report.healthy
    assert run(filled, fix=True).healthy
    assert shard(filled).read_text(encoding="utf-8") == text
    assert ids(filled) == expected


def test_a_shard_that_is_gone_is_written_anew(filled: Memory) -> None:
    expected, path = ids(filled), shard(filled)
    text = path.read_text(encoding="utf-8")
    path.unlink()
    assert not run(filled).healthy
    assert run(filled, fix=True).healthy
    assert path.read_text(encoding="utf-8") == text
    assert ids(filled) == expected


def test_an_edited_line_gives_way_to_the_original(filled: Memory) -> None:
    text = shard(filled).read_text(encoding="utf-8")
    shard(filled).write_text(text.replace("remark 3", "remark X"), encoding="utf-8")
    assert not run(filled).healthy
    run(filled, fix=True)
    assert shard(filled).read_text(encoding="utf-8") == text
    assert run(filled).healthy


def test_missing_attributes_are_written(filled: Memory) -> None:
    path = filled.root / ".backstory/.gitattributes"
    text = path.read_text(encoding="utf-8")
    path.unlink()
    assert "advice" in states(run(filled), "git")
    assert "fixed" in states(run(filled, fix=True), "git")
    assert path.read_text(encoding="utf-8") == text
    assert "merge=union" in text


def test_a_damaged_index_is_made_again(filled: Memory) -> None:
    expected = ids(filled)
    with filled.open() as project:
        index = Path(project.config.places.index_path)
    for damage in (b"garbage" * 1_000, b""):
        for suffix in ("-wal", "-shm"):
            index.with_name(index.name + suffix).unlink(missing_ok=True)
        index.write_bytes(damage)
        assert run(filled, fix=True).healthy
        assert ids(filled) == expected
        assert states(run(filled), "index") == ["good"]


def test_a_log_that_git_ignores_is_bad(filled: Memory) -> None:
    assert run(filled).healthy
    (filled.root / ".gitignore").write_text(".backstory/\n", encoding="utf-8")
    report = run(filled)
    assert any("git ignores" in check.message for check in report.checks)
    assert not report.healthy


def test_two_memories_that_were_started_apart_are_joined_and_both_readable(repo: Path, tmp_path: Path) -> None:
    first = Memory(repo, started=True)
    first.git("checkout", "-q", "-b", "one")
    init(str(repo), name="first", now=first.now)
    one = first.add("note", "from the first")
    first.commit("Start one memory")
    first.git("clone", "-q", "-b", "main", str(repo), str(tmp_path / "clone"))
    second = Memory(tmp_path / "clone", started=True)
    second.now = first.tick(days=1)
    init(str(second.root), name="second", now=second.now)
    two = second.add("note", "from the second")
    second.commit("Start another memory")
    ours, theirs = load(str(second.root)).project, load(str(repo)).project
    assert ours != theirs
    second.git("fetch", "-q", "origin", "one")
    second.git("merge", "-q", "-m", "Merge both", "FETCH_HEAD", check=False)
    marker = second.root / ".backstory/project.toml"
    assert "<<<<<<<" in marker.read_text(encoding="utf-8")
    assert not run(second).healthy
    report = run(second, fix=True)
    assert "fixed" in states(report, "settings")
    config = load(str(second.root))
    assert (config.project, config.also) == (min(ours, theirs), (max(ours, theirs),))
    with open_project(str(second.root), now=second.tick()) as project:
        assert {item.id for item in answers.get(project)} == {one, two}
    assert verify(config, second.now).sound
    three = second.add("note", "after the join")
    second.git("add", "-A")
    second.git("commit", "-q", "-m", "Merge both")
    assert ids(second) == sorted([one, two, three])
    assert run(second).healthy


# -- the second scanner

BETTERLEAKS = """#!/bin/sh
cat > "{seen}"
printf '%s\\n' '{{"finding":{{"rule_id":"aws-access-key","location":{{"start_line":2}}}}}}'
printf '%s\\n' '{{"scan":{{"findings":1,"duration":"5ms"}}}}'
"""
GITLEAKS = """#!/bin/sh
cat > "{seen}"
printf '%s' '[{{"RuleID":"generic-api-key","StartLine":1,"Secret":"REDACTED"}},{{"RuleID":"jwt","StartLine":3}}]'
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(script.format(seen=folder / "seen"), encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "script", "expected"),
    [
        ("betterleaks", BETTERLEAKS, [(1, "aws-access-key")]),
        ("gitleaks", GITLEAKS, [(0, "generic-api-key"), (2, "jwt")]),
        ("gitleaks", "#!/bin/sh\ncat > '{seen}'\necho '[]'\n", []),
        ("gitleaks", "#!/bin/sh\ncat > '{seen}'\necho null\n", []),
        ("betterleaks", "#!/bin/sh\ncat > '{seen}'\necho '{{\"scan\":{{}}}}'\n", []),
        ("betterleaks", "#!/bin/sh\ncat > '{seen}'\n", []),
    ],
)
def test_what_a_scanner_finds_is_named_by_entry(
    filled: Memory, tools: Path, name: str, script: str, expected: list[tuple[int, str]]
) -> None:
    tool(tools, name, script)
    with filled.open() as project:
        found = scanner.scan(project)
    entries = ids(filled)
    assert (found.tool, found.failed) == (name, "")
    assert list(found.found) == [(entries[place], rule) for place, rule in expected]
    assert (tools / "seen").read_text(encoding="utf-8").splitlines() == [f"remark {n}" for n in range(5)]
    report = run(filled)
    assert report.healthy == (not expected)
    assert states(report, "secrets") == (["bad"] * len(expected) or ["good"])
    for place, _ in expected:
        assert any(f"backstory redact {entries[place]}" in check.fix for check in report.checks)


@pytest.mark.parametrize(
    "script", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho this is no json\n", "#!/bin/sh\necho '[1, \"x\"]'\n"]
)
def test_a_scanner_that_fails_is_said_and_fails_nothing(filled: Memory, tools: Path, script: str) -> None:
    tool(tools, "betterleaks", script)
    report = run(filled)
    assert states(report, "secrets") == ["advice"]
    assert report.healthy
    assert json.dumps([check.message for check in report.checks])


def test_betterleaks_is_asked_before_gitleaks_and_without_either_it_is_advice(
    filled: Memory, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(tools, "gitleaks", GITLEAKS)
    tool(tools, "betterleaks", BETTERLEAKS)
    with filled.open() as project:
        assert scanner.scan(project).tool == "betterleaks"
        monkeypatch.setattr(scanner.shutil, "which", lambda name: None)
        assert scanner.scan(project).tool == ""
    assert states(run(filled), "secrets") == ["advice"]


def test_a_marker_that_is_garbage_is_written_anew_from_its_twin(filled: Memory) -> None:
    identity, before = load(str(filled.root)).project, ids(filled)
    (filled.root / ".backstory/project.toml").write_text("{{{ no settings\n", encoding="utf-8")
    assert not run(filled).healthy
    assert "fixed" in states(run(filled, fix=True), "settings")
    assert load(str(filled.root)).project == identity
    assert ids(filled) == before


# -- derived files, held against what they were made from


def test_an_index_that_says_something_else_than_the_log_is_made_anew(filled: Memory) -> None:
    with filled.open() as project:
        assert states(run(filled), "index") == ["good"]
        project.db.execute("UPDATE entries SET standing = 'retired' WHERE id = ?", (ids(filled)[0],))
    report = run(filled)
    assert states(report, "index") == ["bad"] and not report.healthy
    assert states(run(filled, fix=True), "index") == ["fixed"]
    assert states(run(filled), "index") == ["good"]
    assert len(ids(filled)) == 5


def test_what_git_explains_is_no_difference_between_index_and_log(memory: Memory) -> None:
    bad = memory.commit("Add a cache", src__a_py="one = 1\n" * 9)
    memory.git("revert", "--no-edit", bad)
    memory.add("note", "about the cache", files=["src/a.py"])
    with memory.open() as project:
        refresh(project)
        assert project.db.execute("SELECT count(*) FROM computed").fetchone()[0]
    assert states(run(memory), "index") == ["good"]


def test_a_history_is_looked_at_where_there_is_one(filled: Memory) -> None:
    assert states(run(filled), "history") == []
    with filled.open() as project:
        refresh(project)
        folder = Path(project.config.places.history_dir)
    assert states(run(filled), "history") == ["good"]
    filled.commit("More", src__b_py="b = 1\n")
    assert states(run(filled), "history") == ["advice"]
    assert states(run(filled, fix=True), "history") == ["fixed"]
    assert states(run(filled), "history") == ["good"]
    pointer = json.loads((folder / "current.json").read_text(encoding="utf-8"))
    with duckdb.connect(str(folder / pointer["file"])) as db:
        db.execute("UPDATE commits SET subject = 'something else'")
    report = run(filled)
    assert states(report, "history") == ["bad"] and not report.healthy
    assert states(run(filled, fix=True), "history") == ["fixed"]
    (folder / json.loads((folder / "current.json").read_text(encoding="utf-8"))["file"]).write_bytes(b"garbage" * 99)
    assert states(run(filled), "history") == ["bad"]
    assert states(run(filled, fix=True), "history") == ["fixed"]
    assert states(run(filled), "history") == ["good"]


def test_without_fix_the_state_folder_is_not_even_made(filled: Memory, isolated: Path) -> None:
    shutil.rmtree(isolated / ".local")
    assert [check.state for check in machine.checks() if check.name == "state"] == ["good"]
    assert not (isolated / ".local").exists()
    run(filled, fix=True)
    assert (isolated / ".local/state/backstory").is_dir()
