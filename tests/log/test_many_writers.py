"""16 processes, 200 operations each, on one store: nothing lost, no empty read, no traceback."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.log.reader import Line, lines
from tests.storekit import Store, assert_rebuilt_is_equal, environment, git

PROCESSES, OPERATIONS = 16, 200

WORKER = """
import json, random, sys, time
from backstory.errors import BackstoryError, Exit
from backstory.project import gateway, operations
from backstory.project.refresh import open_project
from backstory.project.verifying import problems
from backstory.records.event import By

root, worker, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
rng = random.Random(int(seed))
person, agent = By("person", "Ada"), By("agent", "x", f"session {worker}")
told, mine, notices = {"recorded": [], "confirmed": [], "retired": [], "reads": 0, "refused": 0}, [], set()
for number in range(count):
    with open_project(root) as project:
        what = rng.random()
        if what < 0.15 or not mine:
            text = f"worker {worker} wrote number {number}"
            done = gateway.record(project, agent if what < 0.1 else person, "note", {"summary": text})
            assert done.status == "recorded" and done.standing in ("active", "confirmed"), done
            mine.append(done.id)
            told["recorded"].append(done.id)
        elif what < 0.25:
            target = rng.choice(mine)
            operations.operate(project, agent, "confirm", target)
            told["confirmed"].append(target)
        elif what < 0.3 and len(mine) > 2:
            target = mine.pop(rng.randrange(len(mine)))
            assert operations.operate(project, person, "retire", target, reason="over").standing == "retired"
            told["retired"].append(target)
        else:
            told["reads"] += 1
            live = {row[0] for row in project.db.execute("SELECT id FROM live")}
            assert live >= set(mine), "an empty or old read"
            assert not problems(project), problems(project)
        notices.update(project.notices)
told["notices"] = sorted(notices)
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["git", "plain"])
def test_nothing_is_lost_and_nobody_fails(tmp_path: Path, repo: Path, kind: str) -> None:
    """Half of the processes of the git case work in a linked work tree. The plain folder takes fewer rounds."""
    processes, count = (PROCESSES, OPERATIONS) if kind == "git" else (PROCESSES, 25)
    if kind == "git":
        store = Store(repo).init()
        store.commit("memory")
        git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        roots = [repo, tmp_path / "side"]
    else:
        (tmp_path / "plain").mkdir()
        store = Store(tmp_path / "plain").init()
        roots = [store.root]
    seeds = random.Random(5)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(roots[number % len(roots)]), str(number), str(count),
             str(seeds.randrange(1 << 30))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        )
        for number in range(processes)
    ]  # fmt: skip
    said = []
    for process in running:
        out, err = process.communicate(timeout=550)
        assert process.returncode == 0, err
        assert "Traceback" not in err and not err.strip(), err
        said.append(json.loads(out))
    recorded = [id_ for one in said for id_ in one["recorded"]]
    retired = {id_ for one in said for id_ in one["retired"]}
    assert len(recorded) == len(set(recorded)) and sum(one["reads"] for one in said) > processes
    assert [one["notices"] for one in said if one["notices"]] == []
    for root in roots:
        here = Store(root, store.clock)
        here.clock.now = time.time_ns() // 1000
        known = here.standings()
        assert set(known) == set(recorded)
        assert {id_ for id_, standing in known.items() if standing == "retired"} == retired
        here.assert_sound()
    events = [
        item.head for path in store.journals() or store.shards() for item in lines(str(path)) if isinstance(item, Line)
    ]
    assert len(events) == len({head.id for head in events})
    confirmed = sorted(id_ for one in said for id_ in one["confirmed"])
    assert sum(head.kind == "confirm" for head in events) == len(confirmed)
    assert_rebuilt_is_equal(store)
