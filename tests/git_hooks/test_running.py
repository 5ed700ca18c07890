"""What each hook does: the check of what is staged, the index, the map of rewritten commits."""

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from backstory.project.git_hooks import rewritten as module
from backstory.project.git_hooks import running
from backstory.project.git_hooks.rewritten import keep, rewritten
from backstory.project.git_hooks.staged import staged_patch, staged_paths
from tests.git_hooks.hooked import change, dirty, install, places, script, timed
from tests.project.memory import Memory


class FakeCheck:
    """Stands for the check: keeps what it was asked, and finds what it was told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[list[str], str]] = []
        self.worst = ""
        self.problems: tuple[str, ...] = ()
        self.snoozed: tuple[str, ...] = ()
        fake = ModuleType("backstory.project.checking")
        fake.check = self  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "backstory.project.checking", fake)

    def __call__(self, project: Any, paths: list[str], *, intent: str = "", diff: str = "") -> Any:
        self.asked.append((list(paths), diff))
        text = "this was tried and \x1b[31mbacked out\nsince it deadlocked"
        one = SimpleNamespace(level=self.worst, text=text, why="a lock", short="ABC123", files=("src/a.py",))
        findings = (one,) * (12 if self.worst else 0)
        return SimpleNamespace(findings=findings, problems=self.problems, snoozed=self.snoozed, worst=self.worst)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCheck:
    return FakeCheck(monkeypatch)


def check(memory: Memory, *, block: bool = False) -> running.Ran:
    return running.run("pre-commit", [], b"", str(memory.root), block=block)


def test_the_staged_files_and_their_patch_are_checked_and_nothing_else(memory: Memory, fake: FakeCheck) -> None:
    assert check(memory).notices == [] and fake.asked == []
    change(memory, "def second():\n    return 2\n")
    memory.put("src/not staged.py", "x = 1\n")
    assert check(memory).notices == []
    [(paths, patch)] = fake.asked
    assert paths == ["src/a.py"]
    assert "+def second():" in patch and "-def first():" in patch and "x = 1" not in patch
    assert "?? " in dirty(memory.root)


def test_findings_are_told_in_clean_lines_and_stop_only_when_asked(memory: Memory, fake: FakeCheck) -> None:
    change(memory, "x\n")
    for worst, block, stops in (
        ("warn", True, False), ("block", False, False), ("block", True, True), ("", True, False),
    ):  # fmt: skip
        fake.worst = worst
        ran = check(memory, block=block)
        assert ran.blocked is stops, (worst, block)
        assert bool(ran.notices) is bool(worst)
    fake.worst = "info"
    assert check(memory, block=True).notices == []
    fake.worst, fake.problems, fake.snoozed = "warn", ("one line is damaged",), ("XYZ is snoozed",)
    notices = check(memory).notices
    assert notices[:3] == [
        "warn: this was tried and backed out since it deadlocked", "  why: a lock", "  `backstory show ABC123`",
    ]  # fmt: skip
    assert notices[-3:] == [
        "2 more: `backstory check --staged`", "XYZ is snoozed", "not all was checked: one line is damaged",
    ]  # fmt: skip


def test_the_gate_never_passes_in_silence(memory: Memory, fake: FakeCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    change(memory, "x\n")
    Path(places(memory.root).derived_dir, "pending").write_text("half")
    assert "not checked: another command" in check(memory).notices[0]
    Path(places(memory.root).derived_dir, "pending").unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    assert "not checked: git could not say" in check(memory).notices[0]
    monkeypatch.undo()
    fake = FakeCheck(monkeypatch)
    monkeypatch.setattr(running, "UNREAD_BYTES", 10)
    for path in Path(places(memory.root).derived_dir).glob("index.sqlite*"):
        path.unlink()
    assert "not checked: there is no index yet" in check(memory).notices[0]
    assert fake.asked == []
    monkeypatch.undo()
    fake = FakeCheck(monkeypatch)
    assert check(memory).notices == [] and len(fake.asked) == 1


def test_a_rebase_is_not_checked_half_way(memory: Memory, fake: FakeCheck) -> None:
    change(memory, "x\n")
    (memory.root / ".git/rebase-merge").mkdir()
    assert check(memory).notices == [] and fake.asked == []
    assert check(memory, block=True).notices == ["nothing is checked while git is in a rebase"]
    (memory.root / ".git/rebase-merge").rmdir()
    assert check(memory).notices == [] and len(fake.asked) == 1


def test_what_is_about_to_be_committed_is_what_git_says_and_not_the_index_of_the_tree(memory: Memory) -> None:
    """`commit -a`, `commit PATH` and a renamed file, asked from inside the real hook."""
    log = memory.root.parent / "asked.log"
    code = (
        "from backstory.project.git_hooks.staged import *; import os; here = os.getcwd();"
        f"open({str(log)!r}, 'a').write(repr((staged_paths(here), 'yes' in staged_patch(here))) + chr(10))"
    )
    run = f'#!/bin/sh\n[ "$4" = pre-commit ] || exit 0\nexec {sys.executable} -c "{code}"\n'
    install(memory.root, python=str(script(memory.root.parent / "python", run)), entry=__file__)
    memory.put("src/b.py", "b = 1\n")
    memory.git("add", "-A")
    timed(memory.root, "commit", "-q", "-m", "two files")
    memory.put("src/a.py", "yes = 1\n")
    memory.put("src/b.py", "no = 1\n")
    timed(memory.root, "commit", "-q", "-m", "one of them", "src/a.py")
    timed(memory.root, "commit", "-q", "-a", "-m", "all")
    memory.git("mv", "src/b.py", "src/c d.py")
    timed(memory.root, "commit", "-q", "-m", "renamed")
    assert [eval(line) for line in log.read_text().splitlines()] == [
        (["src/b.py"], False), (["src/a.py"], True), (["src/b.py"], False), (["src/b.py", "src/c d.py"], False),
    ]  # fmt: skip
    assert staged_paths(str(memory.root)) == [] and staged_patch(str(memory.root)) == ""
    assert staged_paths(str(memory.root.parent / "none")) is None


def test_a_checkout_of_a_file_is_no_reason_to_do_anything(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[str] = []
    monkeypatch.setattr(running, "warm", lambda places: warmed.append(places.root) or [])
    running.run("post-checkout", ["a", "b", "0"], b"", str(memory.root))
    assert warmed == []
    running.run("post-checkout", ["a", "b", "1"], b"", str(memory.root))
    running.run("post-merge", ["0"], b"", str(memory.root / "src"))
    assert warmed == [str(memory.root)] * 2
    assert running.run("post-merge", ["0"], b"", str(memory.root.parent)).notices == []
    assert len(warmed) == 2


def test_a_log_that_is_long_or_brings_a_redaction_is_left_to_the_next_command(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def behind() -> bool:
        from backstory.index import store
        from backstory.project import currency

        found = places(memory.root)
        db = store.open_ready(found.index_path)
        assert db is not None
        try:
            return bool(currency.state(found, store.file_sizes(db), store.meta(db)))
        finally:
            db.close()

    [shard] = (memory.root / ".backstory/log").glob("*.jsonl")
    with shard.open("ab") as file:
        file.write(b'{"kind":"redact"}\n')
    running.warm(places(memory.root))
    assert behind()
    shard.write_bytes(shard.read_bytes().replace(b'"redact"', b'"nothing"'))
    with memory.open():
        assert not behind()
    with shard.open("ab") as file:
        file.write(b'{"kind":"nothing", "more": true}\n')
    monkeypatch.setattr(running, "UNREAD_BYTES", 10)
    running.warm(places(memory.root))
    assert behind()
    monkeypatch.undo()
    running.warm(places(memory.root))
    assert not behind()


# --- rewritten commits -------------------------------------------------------------------------------------------


def sha(number: int) -> str:
    return f"{number:040x}"


def test_a_rewritten_commit_is_followed_to_its_last_form(tmp_path: Path) -> None:
    folder = str(tmp_path / "derived")
    assert rewritten(folder, sha(1)) == sha(1)
    assert keep(folder, f"{sha(1)} {sha(2)}\n{sha(5)} {sha(2)} extra\n".encode()) == 2
    assert keep(folder, f"{sha(2)} {sha(3)}\n".encode()) == 1
    assert {rewritten(folder, sha(number)) for number in (1, 2, 3, 5)} == {sha(3)}
    assert rewritten(folder, sha(4)) == sha(4)
    keep(folder, f"{sha(3)} {sha(1)}\n".encode())
    assert rewritten(folder, sha(3)) in (sha(1), sha(2), sha(3))
    long = "a" * 64
    keep(folder, f"{long} {'b' * 64}\n".encode())
    assert rewritten(folder, long) == rewritten(folder, "aaaaaaa") == "b" * 64
    assert rewritten(folder, "0000000") == "0000000"


def test_what_is_no_pair_is_not_kept(tmp_path: Path) -> None:
    for text in (
        b"",
        b"\n\n",
        b"HEAD main\n",
        f"{sha(1)}\n".encode(),
        b"\xff\x00" * 50,
        f"{sha(1)} {sha(1)}\n".encode(),
    ):
        assert keep(str(tmp_path), text) == 0
    assert not (tmp_path / module.NAME).exists()
    (tmp_path / module.NAME).write_bytes(b"\xffgarbage\n" + f"{sha(1)} {sha(2)}\n{sha(3)}".encode())
    assert rewritten(str(tmp_path), sha(1)) == sha(2)


def test_the_map_is_bounded_and_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100)
    monkeypatch.setattr(module, "_COUNT_FROM", 100 * 82)
    for start in range(0, 1_000, 30):
        keep(str(tmp_path), "".join(f"{sha(n)} {sha(n + 5_000)}\n" for n in range(start, start + 30)).encode())
    assert (tmp_path / module.NAME).read_bytes().count(b"\n") <= 100
    assert rewritten(str(tmp_path), sha(1_019)) == sha(6_019)
    assert rewritten(str(tmp_path), sha(0)) == sha(0)
    keep(str(tmp_path), "".join(f"{sha(n)} {sha(n + 5_000)}\n" for n in range(2_000, 2_500)).encode())
    assert (tmp_path / module.NAME).read_bytes().count(b"\n") <= 100
    assert [name for name in os.listdir(tmp_path) if name != module.NAME] == []
