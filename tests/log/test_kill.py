"""`kill -9` at every named point of an append, a refresh and a redaction: the next run is correct.

A process of its own does the work and kills itself at the point. Acknowledged is what it printed.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.log.faults import POINTS
from tests.storekit import Store, assert_rebuilt_is_equal, environment

DRIVER = """
import os, signal, sys
from backstory.log import faults
from backstory.project import gateway, redaction
from backstory.project.refresh import open_project
from backstory.records.event import By

root, action, value, point, nth, now = sys.argv[1:]
passed = 0

def trip(name):
    global passed
    if name == point:
        passed += 1
        if passed == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)

if action == "open":
    faults.trip = trip
with open_project(root, now=int(now)) as project:
    faults.trip = trip
    if action == "record":
        print(gateway.record(project, By("person", "Ada"), "note", {"summary": value}).id, flush=True)
    elif action == "redact":
        redaction.redact(project, By("person", "Ada"), value, "a secret")
        print("redacted", flush=True)
"""

KINDS = ("git", "private", "plain")
APPEND_POINTS = [point for point in POINTS if point.startswith(("append.", "refresh."))]
REDACT_POINTS = list(POINTS)
SECRET = "hunter2swordfish"


def made(tmp_path: Path, repo: Path, kind: str) -> Store:
    if kind == "plain":
        folder = tmp_path / "plain"
        folder.mkdir()
        return Store(folder).init()
    return Store(repo).init(private=kind == "private")


def run(store: Store, action: str, value: str = "", point: str = "", nth: int = 1) -> tuple[bool, str]:
    """Whether the process was killed, and what it had acknowledged."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(store.root), action, value, point, str(nth), str(store.clock())],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0, done.stdout.strip()


def count(store: Store, text: str) -> int:
    return sum(summary == text for summary in store.texts().values())


def lines_of(store: Store) -> list[bytes]:
    return [line for path in store.shards() for line in path.read_bytes().splitlines()]


def test_without_a_point_the_driver_is_not_killed(repo: Path) -> None:
    store = Store(repo).init()
    killed, said = run(store, "record", "plain run")
    assert not killed
    assert store.texts() == {said: "plain run"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", APPEND_POINTS)
def test_killed_in_an_append(tmp_path: Path, repo: Path, kind: str, point: str) -> None:
    store = made(tmp_path, repo, kind)
    before = store.record("before")
    killed, said = run(store, "record", "in flight", point)
    if point == "append.log" and kind != "git":
        assert not killed  # one file only: it is passed as `append.journal`
    else:
        assert killed, point
        assert not said
    # Of the write itself: the line is there or not, never twice, and from the first durable copy on it is there.
    durable = point not in ("append.locked", "append.pending")
    assert count(store, "in flight") == int(durable or not killed)
    assert count(store, "before") == 1
    store.assert_sound()
    after = store.record("after")
    assert {before, after} <= set(store.texts())
    assert count(store, "in flight") == int(durable or not killed)
    if kind == "git":
        (shard,), (journal,) = store.shards(), store.journals()
        assert shard.read_bytes() == journal.read_bytes()
    store.assert_sound()
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", [point for point in POINTS if point.startswith("refresh.")])
@pytest.mark.parametrize("made_anew", [False, True])
def test_killed_in_a_refresh(tmp_path: Path, repo: Path, kind: str, point: str, made_anew: bool) -> None:
    """Of an index that is behind, and of one that is missing. Twice in a row, then a run that is not killed."""
    store = made(tmp_path, repo, kind)
    (store.root / "code.py").write_text("def one():\n    return 1\n")
    ids = {
        store.record("Use tabs for indentation", kind="decision", files=["code.py#one"]),
        store.record("Use spaces for indentation", kind="decision", files=["code.py"]),
    }
    if made_anew:
        store.forget_index()
    else:
        for path in [*store.shards(), *store.journals()]:
            path.touch()
    for _ in range(2):
        killed, _said = run(store, "open", point=point)
    assert killed or point == "refresh.committed"
    assert set(store.texts()) == ids
    store.assert_sound()
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize(("kind", "nth"), [("git", 1), ("git", 2), ("private", 1), ("plain", 1)])
@pytest.mark.parametrize("point", REDACT_POINTS)
def test_killed_in_a_redaction(tmp_path: Path, repo: Path, kind: str, point: str, nth: int) -> None:
    store = made(tmp_path, repo, kind)
    kept = store.record("a sibling stays")
    secret = store.record(f"the key is {SECRET}")
    assert SECRET.encode() in store.bytes_everywhere()
    killed, said = run(store, "redact", secret, point, nth)
    recorded = not killed or point not in ("append.locked", "append.pending")
    assert (said == "redacted") == (not killed)
    if recorded:
        assert store.standing(secret) == "retired"
        assert SECRET.encode() not in store.bytes_everywhere()
    else:
        assert store.standing(secret) == "confirmed"
        store.redact(secret)
        assert SECRET.encode() not in store.bytes_everywhere()
    assert store.texts()[secret] == "[redacted]"
    assert store.texts()[kept] == "a sibling stays"
    store.assert_sound()
    if kind == "git":
        (shard,), (journal,) = store.shards(), store.journals()
        assert shard.read_bytes() == journal.read_bytes()
    assert_rebuilt_is_equal(store)


@pytest.mark.parametrize("point", ["refresh.committed", "redact.written", "redact.replaced"])
def test_a_redaction_that_is_killed_again_while_it_is_finished_is_finished_after_all(repo: Path, point: str) -> None:
    """The run that finishes it dies after its index was brought up to date: the next one still knows."""
    store = Store(repo).init()
    secret = store.record(f"the key is {SECRET}")
    assert run(store, "redact", secret, "redact.recorded")[0]
    assert run(store, "open", point=point)[0]
    assert store.standing(secret) == "retired"
    assert SECRET.encode() not in store.bytes_everywhere()
    store.assert_sound()


def test_a_kill_between_fold_and_freshness_leaves_nothing_unjudged(repo: Path) -> None:
    """The next read compares entries and judges their files, although the log is as it was."""
    store = Store(repo).init()
    store.record("Use tabs for indentation", kind="decision")
    store.record("Use spaces for indentation", kind="decision")
    store.forget_index()
    assert run(store, "open", point="refresh.committed")[0]
    with store.open() as project:
        assert project.db.execute("SELECT count(*) FROM conflicts").fetchone()[0] == 1
    assert_rebuilt_is_equal(store)


def test_a_dead_writers_lock_is_free(repo: Path) -> None:
    """The system gives it back: there is nothing to clean up."""
    store = Store(repo).init()
    assert run(store, "record", "one", "append.locked")[0]
    assert Path(store.config.places.shared_dir, "lock").exists()
    store.record("two")
    assert set(store.texts().values()) == {"two"}
