"""An export of other projects, read in: each event once, whatever the file says twice, and the same in a dry run."""

from pathlib import Path

import msgspec
import pytest

from backstory.project.importing import Imported, load
from backstory.project.sharing import machine, sharing
from tests.project.memory import PERSON, Memory
from tests.storekit import new_repo


def made(tmp_path: Path, name: str) -> Memory:
    new_repo(tmp_path / name)
    return Memory(tmp_path / name, name=name)


def lines(*memories: Memory) -> str:
    shards = (path for memory in memories for path in sorted((memory.root / ".backstory/log").glob("*.jsonl")))
    return "".join(path.read_text(encoding="utf-8") for path in shards)


def read_in(memory: Memory, path: Path, *, dry_run: bool = False) -> Imported:
    memory.tick()
    with memory.open() as project:
        return load(project, PERSON, str(path), dry_run=dry_run)


def test_what_two_projects_say_comes_once_and_is_counted_so_in_a_dry_run_too(tmp_path: Path) -> None:
    alpha, beta, here = (made(tmp_path, name) for name in ("alpha", "beta", "here"))
    for memory in (alpha, beta):
        memory.add("decision", "Use wool")
    beta.add("decision", "Use linen")
    path = tmp_path / "memory.jsonl"
    path.write_text(lines(alpha, beta), encoding="utf-8")
    planned, done, again = read_in(here, path, dry_run=True), read_in(here, path), read_in(here, path)
    assert (done.added, done.present) == (2, 1)
    assert planned == msgspec.structs.replace(done, dry_run=True)
    assert (again.added, again.present) == (0, 3)


def test_the_machine_wide_log_is_opened_once_for_all_and_what_ended_there_does_not_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alpha, here = made(tmp_path, "alpha"), made(tmp_path, "here")
    gone = alpha.add("lesson", "Sockets stay open", PERSON, libraries=["httpx"])
    for number in range(5):
        alpha.add("note", f"Number {number}")
    path = tmp_path / "memory.jsonl"
    path.write_text(lines(alpha), encoding="utf-8")
    alpha.tick()
    with alpha.open() as project:
        sharing.share(project, PERSON, gone, ())
    alpha.act("retire", gone, reason="fixed there")
    opened: list[int] = []
    before = machine.opened
    with here.open() as project:
        monkeypatch.setattr(machine, "opened", lambda now: opened.append(now) or before(now))
        done = load(project, PERSON, str(path), dry_run=True)
    assert (done.added, done.dropped) == (5, 1)
    assert len(opened) == 1
