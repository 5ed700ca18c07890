"""The writers' lock: one writer at a time, bounded waiting, and readers that never ask for it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from backstory.errors import Exit
from backstory.log.lock import held
from tests.storekit import Store, environment, refused

HOLDER = """
import sys, time
from backstory.log.lock import held
with held(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(folder: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, folder], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def enter(folder: str, wait_seconds: float) -> None:
    with held(folder, wait_seconds):
        pass


def test_it_is_free_again_after_use_and_after_an_error(tmp_path: Path) -> None:
    folder = str(tmp_path / "made" / "when missing")
    with pytest.raises(ZeroDivisionError), held(folder):
        _ = 1 / 0
    enter(folder, 0)


def test_another_process_is_waited_for_and_then_named(tmp_path: Path) -> None:
    process = holder(str(tmp_path))
    try:
        begun = time.monotonic()
        error = refused(enter, str(tmp_path), 0.2)
        assert 0.2 <= time.monotonic() - begun < 5
        assert error.code == Exit.REFUSED
        assert str(tmp_path / "lock") in error.message and error.hint
    finally:
        process.kill()
        process.wait()
    enter(str(tmp_path), 0)


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(20):
            with held(str(tmp_path)):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_a_lock_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    error = refused(enter, str(tmp_path / "file"), 0)
    assert error.message.startswith("Nothing was written:") and error.hint


def test_reading_and_verifying_go_on_while_a_writer_hangs_half_way(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped writer holds the lock and has left its note: readers neither wait nor fail."""
    store = Store(repo).init()
    first = store.record("one")
    pending = Path(store.config.places.derived_dir) / "pending"
    pending.write_bytes(store.shards()[0].stem.encode() + b"\n" + store.shards()[0].read_bytes())
    monkeypatch.setattr("backstory.project.verifying.held", lambda folder: held(folder, 0.1))
    process = holder(store.config.places.shared_dir)
    try:
        begun = time.monotonic()
        os.kill(process.pid, signal.SIGSTOP)
        assert store.standings() == {first: "confirmed"}
        assert store.verify().sound
        assert time.monotonic() - begun < 5
        assert pending.exists()
    finally:
        process.kill()
        process.wait()
    assert store.standings() == {first: "confirmed"}
    assert not pending.exists()
