"""`watch`: what counts as an edit, what is proposed, and how long it lives."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backstory.config import load
from backstory.errors import BackstoryError, Exit
from backstory.project import answers
from backstory.project.watching import life, running, tree
from backstory.project.watching import settings as watch_settings
from backstory.project.watching.churn import Churn
from backstory.project.watching.settings import MOST_AT_ONCE, WatchSettings
from backstory.project.watching.watcher import Seen, Watcher, for_project
from tests.project.memory import OTHER_HOOK, SECOND, Memory

EAGER = WatchSettings(edits=3, minutes=10, gap_seconds=0)


class Bench:
    """A watcher of a real project, stepped by hand. Every step moves the clock on by a minute."""

    def __init__(self, memory: Memory, settings: WatchSettings = EAGER, session: str = "w-1") -> None:
        self.memory = memory
        self.watcher = for_project(load(str(memory.root)), settings, session)
        self.step()

    def step(self, seconds: int = 60) -> list[Seen]:
        """Look once."""
        self.memory.now += seconds * SECOND
        return self.watcher.step(self.memory.now)

    def edit(self, path: str, times: int = 1, seconds: int = 60) -> list[Seen]:
        """Edit a file so often, with a look after each."""
        seen = []
        for _ in range(times):
            self.memory.put(path, f"{self.memory.now} {self.memory.tick()}\n")
            seen += self.step(seconds)
        return seen


def hot(memory: Memory) -> list[tuple[str, str, str]]:
    """(path, standing, kind of writer) of every hot file."""
    with memory.open() as project:
        rows = project.db.execute(
            "SELECT e.standing, v.body FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE e.kind = 'hotfile'"
        ).fetchall()
    bodies = [(standing, json.loads(body)) for standing, body in rows]
    return sorted((body["path"], standing, body["by"]["kind"]) for standing, body in bodies)


@pytest.fixture
def bench(memory: Memory) -> Bench:
    memory.commit("Add", src__a_py="a\n", src__b_py="b\n")
    memory.put(".gitignore", "build/\n")
    memory.commit("Ignore")
    return Bench(memory)


def test_a_file_that_is_edited_again_and_again_is_proposed_once_and_counts_for_nothing_yet(bench: Bench) -> None:
    assert [seen.what for seen in bench.edit("src/a.py", 2)] == ["edit", "edit"]
    assert hot(bench.memory) == []
    *_, seen = bench.edit("src/a.py")
    assert (seen.what, seen.path, seen.edits) == ("proposed", "src/a.py", 3)
    assert hot(bench.memory) == [("src/a.py", "proposed", "hook")]
    with bench.memory.open() as project:
        assert seen.id not in {item.id for item in answers.get(project)}
    again = [seen for seen in bench.edit("src/a.py", 3) if seen.what != "edit"]
    assert [(one.what, one.id) for one in again] == [("known", seen.id)]
    other = Bench(bench.memory, session="w-2")
    assert [one.what for one in other.edit("src/a.py", 3)][-1] == "known"
    assert hot(bench.memory) == [("src/a.py", "proposed", "hook")]


@pytest.mark.parametrize("act", ["reject", "retire"])
def test_what_a_person_refused_or_retired_is_not_proposed_again(bench: Bench, act: str) -> None:
    proposed = bench.edit("src/a.py", 3)[-1]
    bench.memory.act(act, proposed.id)
    assert bench.edit("src/a.py", 3)[-1].what == "known"
    assert [standing for _, standing, _ in hot(bench.memory)] != ["proposed"]
    assert bench.edit("src/b.py", 3)[-1].what == "proposed"


def test_a_hot_file_that_somebody_else_recorded_is_known(bench: Bench) -> None:
    id_ = bench.memory.add("hotfile", "every query goes through it", OTHER_HOOK, path="src/a.py")
    assert [(seen.what, seen.id) for seen in bench.edit("src/a.py", 3)][-1] == ("known", id_)
    assert bench.edit("src/b.py", 3)[-1].what == "proposed"


def test_edits_that_lie_far_apart_are_no_churn(bench: Bench) -> None:
    assert {seen.what for seen in bench.edit("src/a.py", 12, seconds=400)} == {"edit"}
    assert "proposed" in {seen.what for seen in bench.edit("src/a.py", 3)}


def test_a_burst_of_saves_is_one_edit(memory: Memory) -> None:
    memory.commit("Add", a_py="a\n")
    bench = Bench(memory, WatchSettings(edits=3, minutes=10, gap_seconds=15))
    assert [seen.edits for seen in bench.edit("a.py", 30, seconds=5)] == [1]
    assert [seen.edits for seen in bench.edit("a.py", 2, seconds=30) if seen.what == "edit"] == [2, 3]
    assert [path for path, *_ in hot(memory)] == ["a.py"]


def test_files_that_git_ignores_or_does_not_know_and_our_own_never_count(bench: Bench) -> None:
    for path in ("build/out.py", "src/.a.py.swp", "src/new.py", ".backstory/project.toml", ".git/config2"):
        if path.startswith(".backstory"):
            marker = bench.memory.root / path
            for number in range(4):
                marker.write_text(marker.read_text(encoding="utf-8") + f"# {number}\n", encoding="utf-8")
                assert bench.step() == []
        else:
            assert bench.edit(path, 4) == [], path
    bench.memory.git("add", "src/new.py")
    bench.step()
    assert "proposed" in {seen.what for seen in bench.edit("src/new.py", 3)}


def test_a_save_by_way_of_a_temporary_file_is_one_edit_even_when_it_is_seen_half_way(bench: Bench) -> None:
    path, aside = bench.memory.root / "src/a.py", bench.memory.root / "src/a.py.tmp"
    seen = []
    for number in range(2):
        aside.write_text(f"new {number}\n", encoding="utf-8")
        seen += bench.step()
        path.unlink()
        seen += bench.step()
        aside.rename(path)
        seen += bench.step()
    assert [(one.what, one.path, one.edits) for one in seen] == [("edit", "src/a.py", 1), ("edit", "src/a.py", 2)]


def test_a_touch_and_a_file_that_was_edited_before_are_no_edits(bench: Bench) -> None:
    bench.edit("src/a.py")
    for number in range(4):
        os.utime(bench.memory.root / "src/a.py", (number, number))
        assert bench.step() == []
    assert Bench(bench.memory).step() == []
    assert [seen.edits for seen in bench.edit("src/a.py")] == [2]


def test_a_rename_is_no_edit_and_the_edits_go_with_the_file(bench: Bench) -> None:
    bench.edit("src/a.py", 2)
    bench.memory.put("src/a.py", "a\n")
    bench.step()
    count = len(bench.watcher.churn)
    bench.memory.git("mv", "src/a.py", "src/moved.py")
    bench.memory.git("mv", "src/b.py", "src/never-edited.py")
    assert bench.step() == []
    assert len(bench.watcher.churn) == count
    assert bench.edit("src/moved.py")[-1].what == "proposed"


def test_a_branch_switch_a_rebase_and_many_files_at_once_are_no_edits(bench: Bench) -> None:
    memory = bench.memory
    memory.git("checkout", "-q", "-b", "other")
    memory.commit("Change both", src__a_py="other a\n", src__b_py="other b\n")
    bench.step()
    for branch in ("main", "other") * 3:
        memory.put(".gitignore", f"build/\n{branch}\n")
        memory.git("checkout", "-q", branch)
        assert bench.step() == []
    memory.git("checkout", "-q", "-f", "main")
    memory.commit("Clash", src__a_py="main a\n")
    bench.step()
    memory.git("merge", "other", check=False)
    for number in range(4):
        memory.put("src/a.py", f"resolved {number}\n")
        assert bench.step() == []
    memory.git("merge", "--abort", check=False)
    many = {f"src__m{number}_py": "m\n" for number in range(MOST_AT_ONCE + 1)}
    memory.commit("Many", **many)
    bench.step()
    for number in range(4):
        for name in many:
            memory.put(name.replace("__", "/").replace("_py", ".py"), f"{number}\n")
        assert bench.step() == []
    assert hot(memory) == []
    assert bench.edit("src/m0.py", 3)[-1].what == "proposed"


def test_while_git_writes_nothing_is_seen_and_a_lock_that_was_left_behind_is_no_reason_to_stop(bench: Bench) -> None:
    lock = bench.memory.root / ".git/index.lock"
    lock.touch()
    moment = bench.memory.now // SECOND
    os.utime(lock, (moment, moment))
    bench.memory.put("src/a.py", "changed\n")
    assert bench.step(30) == []
    assert [seen.what for seen in bench.step(60)] == ["edit"]


def test_memory_is_bounded_whatever_is_edited() -> None:
    churn = Churn(WatchSettings(), most=50)
    for number in range(1_000):
        churn.saved(f"f{number}", float(number))
    assert (len(churn), len(churn._saved)) == (50, 50)
    batches = [[f"f{start + number}" for number in range(10)] for start in range(0, 2_000, 10)]
    looks: Iterator[list[str]] = iter([[], *batches])
    watcher = Watcher(
        WatchSettings(),
        look=lambda seconds: tree.Look(tuple(next(looks))),
        content=lambda path, stamp: ("1", path),
        propose=lambda path, now: Seen("proposed", path),
        most_files=100,
    )
    assert watcher.step(0) == []
    for place in range(len(batches)):
        assert len(watcher.step((place + 1) * SECOND)) == 10
    assert watcher.remembered == 100
    assert len(watcher.churn) <= watch_settings.MOST_COUNTED


def test_the_clock_may_go_backwards() -> None:
    churn = Churn(EAGER)
    assert [churn.saved("a", moment) for moment in (100.0, 40.0, 41.0)] == [1, 1, 2]


def test_settings_come_from_the_project_and_nonsense_is_refused(memory: Memory) -> None:
    marker = memory.root / ".backstory/project.toml"
    text = marker.read_text(encoding="utf-8")
    marker.write_text(f"{text}\n[watch]\nedits = 9\npoll_seconds = 5\n", encoding="utf-8")
    config = load(str(memory.root))
    assert watch_settings.of(config) == WatchSettings(edits=9, poll_seconds=5)
    assert watch_settings.of(config, edits=4, minutes=None).edits == 4
    for wrong in ("edits = 1", "edits = 2.5", "minutes = 'x'", "edist = 3", "edits = true"):
        marker.write_text(f"{text}\n[watch]\n{wrong}\n", encoding="utf-8")
        with pytest.raises(BackstoryError) as caught:
            watch_settings.of(config)
        assert caught.value.code == Exit.USAGE and caught.value.hint
    marker.write_text(f"watch = 3\n{text}", encoding="utf-8")
    with pytest.raises(BackstoryError, match="no table"):
        watch_settings.of(config)


def test_without_git_it_says_why_it_cannot_watch(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    Memory(folder)
    with pytest.raises(BackstoryError) as caught:
        running.watch(str(folder), 0, lambda seen: None)
    assert caught.value.code == Exit.REFUSED and "git init" in caught.value.hint


# -- the process


@contextmanager
def watching(memory: Memory, *more: str, stdin: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    marker = memory.root / ".backstory/project.toml"
    if "[watch]" not in marker.read_text(encoding="utf-8"):
        marker.write_text(
            marker.read_text(encoding="utf-8") + "\n[watch]\npoll_seconds = 0.2\ngap_seconds = 0\n", encoding="utf-8"
        )
    words = [sys.executable, "-m", "backstory", "watch", "--json", *more]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, cwd=memory.root, stdin=stdin, stdout=pipe, stderr=pipe, text=True)
    # A test that fails must not leave it behind, nor wait for it for ever.
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def line(process: subprocess.Popen[str]) -> dict[str, object]:
    assert process.stdout is not None
    text = process.stdout.readline()
    assert text, process.stderr.read() if process.stderr else ""
    found: dict[str, object] = json.loads(text)["data"]
    return found


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_says_what_it_sees_line_by_line_and_ends_with_its_stdin(memory: Memory) -> None:
    memory.commit("Add", a_py="a\n")
    with watching(memory, "--edits", "2") as process:
        assert line(process)["what"] == "started"
        memory.put("a.py", "one edit\n")
        assert line(process) == {"what": "edit", "path": "a.py", "edits": 1, "id": "", "text": ""}
        memory.put("a.py", "another edit\n")
        assert [line(process)["what"], line(process)["what"]] == ["edit", "proposed"]
        assert process.stdin is not None
        process.stdin.close()
        assert line(process) == {"what": "ended", "path": "", "edits": 0, "id": "", "text": "standard input was closed"}
        assert process.wait(20) == 0
    assert not (memory.root / ".git/backstory/watch/pid").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_control_c_ends_it_in_peace(memory: Memory) -> None:
    with watching(memory) as process:
        assert line(process)["what"] == "started"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None and process.stderr.read() == "Ended.\n"
    assert not (memory.root / ".git/backstory/watch/pid").exists()


def test_one_watcher_for_a_work_tree_and_a_killed_one_does_not_stand_in_the_way(memory: Memory) -> None:
    with watching(memory) as first:
        assert line(first)["what"] == "started"
        with watching(memory) as second:
            out, err = second.communicate(timeout=30)
            assert (second.returncode, out) == (Exit.REFUSED, "")
            assert f"process {first.pid}" in err
        first.kill()
        first.wait()
        with watching(memory) as third:
            assert line(third)["what"] == "started"


def test_it_ends_with_the_process_that_was_named_and_does_not_begin_without_it(memory: Memory) -> None:
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with watching(memory, "--parent", str(client.pid), stdin=subprocess.DEVNULL) as process:
            assert line(process)["what"] == "started"
            client.kill()
            # Not waited for: a process that only its parent still remembers has ended.
            assert line(process)["text"] == f"process {client.pid} ended"
            assert process.wait(20) == 0
    finally:
        client.kill()
        client.communicate()
    with watching(memory, "--parent", str(client.pid)) as process:
        _, err = process.communicate(timeout=30)
        assert process.returncode == Exit.USAGE and f"no process {client.pid}" in err


@pytest.mark.skipif(os.name != "posix", reason="the parent's id stays on Windows")
def test_it_does_not_outlive_the_process_that_started_it(memory: Memory) -> None:
    out = memory.root / ".git/out"
    script = (
        "import subprocess, sys, time; f = open(sys.argv[1], 'w');"
        "p = subprocess.Popen([sys.executable, '-m', 'backstory', 'watch', '--json'],"
        " stdin=subprocess.DEVNULL, stdout=f); print(p.pid, flush=True); input()"
    )
    pipe = subprocess.PIPE
    starter = subprocess.Popen([sys.executable, "-c", script, str(out)], cwd=memory.root, stdin=pipe, stdout=pipe)
    try:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        until(lambda: out.exists() and "started" in out.read_text(encoding="utf-8"))
        assert life.is_alive(pid)
        starter.kill()
        until(lambda: not life.is_alive(pid))
        assert "the process that started it ended" in out.read_text(encoding="utf-8")
    finally:
        starter.kill()
        starter.communicate()
