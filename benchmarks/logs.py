"""Reading the log, line by line, against `json.loads` of the same lines."""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from backstory.config import load
from backstory.log.names import files
from backstory.log.reader import Line, check, lines
from benchmarks.bench import Bench
from benchmarks.measure import Failed
from benchmarks.report import Part, Row, say

BAR = 2.0
REPEATS = 5


def measure(bench: Bench) -> Part:
    """In this process, interleaved; a small log is read many times over."""
    part = Part(
        "Reading the log",
        "`backstory.log.reader.lines` over the shard, against `json.loads` of each line; and with the hash of each line"
        " checked, as a refresh and `verify` do it.",
    )
    reading = Row("reading, one line", "us CPU", f"<= {BAR:g} us", BAR)
    checked = Row("reading and checking the hash, one line", "us CPU")
    loads = Row("`json.loads`, one line", "us CPU")
    for size in bench.sizes:
        say(f"log at {size:,}")
        config = load(str(bench.project(size).root))
        (path,) = files(config.places.log_dir)
        count = sum(isinstance(line, Line) for line in lines(path))
        if count < size:
            raise Failed(f"{path} has {count} good lines of {size}")
        times = max(1, 20_000 // size)
        ways = {reading: _reading, checked: _checking(Path(path).stem, config.project), loads: _loads}
        for row, took in _interleaved(ways, path, times).items():
            row.measured[size] = took / count / times * 1e6
    part.rows = [reading, checked, loads]
    return part


Way = Callable[[str], None]


def _interleaved(ways: dict[Row, Way], path: str, times: int) -> dict[Row, float]:
    found: dict[Row, list[float]] = {row: [] for row in ways}
    for _ in range(REPEATS):
        for row, way in ways.items():
            start = time.process_time()
            for _ in range(times):
                way(path)
            found[row].append(time.process_time() - start)
    return {row: statistics.median(took) for row, took in found.items()}


def _reading(path: str) -> None:
    for _ in lines(path):
        pass


def _checking(shard: str, project: str) -> Way:
    def way(path: str) -> None:
        for line in lines(path):
            if not isinstance(line, Line) or check(line, shard, (project,), {}):
                raise Failed(f"{line} is not sound")

    return way


def _loads(path: str) -> None:
    with open(path, "rb") as file:
        for line in file:
            json.loads(line)
