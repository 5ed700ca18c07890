"""The history from git: how long a refresh takes beside the git call that it rests on, and what it holds in memory."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.bench import BACKSTORY, Bench
from benchmarks.measure import Command, run
from benchmarks.report import Part, Row, say

COMMITS = 60_000
CLONE = "git"
ROUNDS, INCREMENTS = 3, 9
GIT = ["git", "log", "--name-status", "-z", "-M"]
# What it prints: seconds of the refresh, CPU seconds of this process in it, its peak in MB, the hash of each table.
REFRESH = """
import json, resource, sys, time
import duckdb
from backstory.history import build, store
from backstory.history.schema import TABLES
from backstory.project.history.refresh import refresh
from backstory.project.refresh import open_project
with open_project(sys.argv[1]) as project:
    wall, cpu = time.perf_counter(), time.process_time()
    done = refresh(project, rebuild=sys.argv[2] == "all")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    # Not `ru_maxrss` where it can be helped: a process inherits that of the one which started it.
    try:
        peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    reader = store.open_reader(project.config.places.history_dir)
    hashes = {name: build.table_hash(reader, name) for name in TABLES}
print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak, "hashes": hashes, "rows": done.rows}))
"""


def measure(bench: Bench) -> Part:
    """A rebuild beside `git log --name-status -z -M`, and one commit more beside the same for that commit."""
    root, what = _repository(bench)
    part = Part(
        "The history from git",
        f"On {what}: `history refresh --rebuild` in process (tables, and what was backed out) beside"
        f" `{' '.join(GIT)}`, interleaved, {ROUNDS} times; then one commit at a time, {INCREMENTS} times, beside"
        " `git log` of that commit alone. Imports are not counted; the peak is that of our process, git's own aside."
        " The words of search are taken in once, by the first search.",
    )
    git, built = [], []
    for number in range(ROUNDS):
        say(f"history, round {number + 1}")
        git.append(run(Command("git log", GIT, root)))
        built.append(_refresh(root, "all"))
    ratio = Row("rebuild / git log, start to end", "times", "1.5", 1.5)
    work = Row("CPU of our process / of git", "times")
    peak = Row("peak memory", "MB", "200", 200.0)
    same = Row("tables that differ between rebuilds, and between going on and a rebuild", "tables", "0", 0.0)
    more = Row("one commit more, beyond git's own time", "ms", "100", 100.0)
    size = built[0]["rows"]["commits"]
    ratio.measured[size] = statistics.median(b["wall"] for b in built) / statistics.median(g.wall / 1e3 for g in git)
    work.measured[size] = statistics.median(b["cpu"] for b in built) / statistics.median(g.cpu / 1e3 for g in git)
    peak.measured[size] = max(b["peak"] for b in built)
    words = Row("the first search, which takes their words in", "s")
    words.measured[size] = _first_search(root)
    more.measured[size], gone_on = _one_more(root)
    hashes = [one["hashes"] for one in built]
    again = _refresh(root, "all")["hashes"]
    same.measured[size] = _differing(hashes) + _differing([gone_on, again])
    part.rows = [ratio, work, peak, words, more, same]
    seconds = ", ".join(f"{one['wall']:.1f}" for one in built)
    part.notes.append(f"Rebuilds took {seconds} s, git {', '.join(f'{one.wall / 1e3:.1f}' for one in git)} s.")
    return part


def _first_search(root: Path) -> float:
    """Seconds of the whole command."""
    return run(Command("search", [BACKSTORY, "search", "allocation"], root)).wall / 1e3


def _one_more(root: Path) -> tuple[float, dict[str, str]]:
    """The median milliseconds beyond git's own for one new commit, and the hashes in the end."""
    beyond, last = [], {}
    for number in range(INCREMENTS):
        (root / "benchmark.txt").write_text(f"{number}\n", encoding="utf-8")
        for arguments in (["add", "benchmark.txt"], ["commit", "-q", "-m", f"One more, number {number}"]):
            subprocess.run(["git", *arguments], cwd=root, check=True, stdin=subprocess.DEVNULL)
        alone = run(Command("git log", [*GIT, "HEAD~1..HEAD"], root))
        done = _refresh(root, "new")
        beyond.append(done["wall"] * 1e3 - alone.wall)
        last = done["hashes"]
    return statistics.median(beyond), last


def _differing(found: list[dict[str, str]]) -> int:
    return sum(len({one[name] for one in found}) > 1 for name in found[0] if name != "index_meta")


def _refresh(root: Path, what: str) -> dict[str, Any]:
    done = run(Command("refresh", [sys.executable, "-c", REFRESH, str(root), what], root))
    answer: dict[str, Any] = json.loads(done.output)
    return answer


def _repository(bench: Bench) -> tuple[Path, str]:
    """A clone of git's own history where one is at hand (`TEST_CLONES`), else one made up; a memory in it."""
    folder = bench.folder / "history"
    source = Path(os.environ.get("TEST_CLONES", "/nonexistent")) / CLONE
    what = "a clone of git/git" if source.is_dir() else f"{COMMITS:,} commits made up"
    if not (folder / ".git").is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        if source.is_dir():
            subprocess.run(["git", "clone", "-q", str(source), str(folder)], check=True)
        else:
            _made_up(folder)
        run(Command("init", [BACKSTORY, "init", "--private"], folder))
    return folder, what


def _made_up(folder: Path) -> None:
    """So many commits of two files each, out of 3,000, every hundredth one taken back by the next."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    feed = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=folder, stdin=subprocess.PIPE)
    assert feed.stdin is not None
    for number in range(COMMITS):
        taken_back = number % 100 == 1
        subject = f'Revert "Change the part {number - 1}"' if taken_back else f"Change the part {number}"
        message = f"{subject}\n\nThe reader of part {number % 97} waited for the writer of part {number % 89}.\n"
        feed.stdin.write(
            f"commit refs/heads/main\nmark :{number + 1}\n"
            f"committer A <a@example.org> {1_500_000_000 + 600 * number} +0000\n"
            f"data {len(message)}\n{message}".encode()
        )
        for place in (number % 3_000, (number * 7) % 3_000):
            text = f"part {place}\n" * 20 + f"line {number}\n"
            feed.stdin.write(f"M 644 inline src/d{place % 60}/f{place}.txt\ndata {len(text)}\n{text}\n".encode())
    feed.stdin.close()
    if feed.wait() != 0:
        raise RuntimeError("git fast-import failed")
    subprocess.run(["git", "checkout", "-q", "main"], cwd=folder, check=True)
