"""The page: how long `backstory web` takes for every view, with nothing, little and much in the memory."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from backstory.project.setup import init
from benchmarks.bench import BACKSTORY, Bench
from benchmarks.measure import Failed
from benchmarks.report import Part, Row, say

BAR, VISITS = 300.0, 5
SIZES = (0, 50, 50_000)
TOKEN = "a-token-for-measuring-alone"
VIEWS = (
    "/", "/entries", "/entries?show=all&page=100", "/entries?show=all&words=cache", "/timeline",
    "/timeline?as_of=2026-03-01", "/timeline?known_at=2026-03-01", "/cases", "/files", "/themes", "/sessions",
    "/freshness", "/conflicts", "/review", "/log", "/stats", "/doctor", "/search?q=cache",
)  # fmt: skip


def measure(bench: Bench) -> Part:
    """Each view several times, over HTTP on loopback, with the server in a process of its own."""
    part = Part(
        "The page",
        f"`backstory web` over HTTP on loopback: the time from request to the end of the answer, the median of {VISITS}"
        " visits after a first one; the slowest view is named. Beside it the slowest of the first visits.",
    )
    row, first = Row("the slowest view", "ms", f"<= {BAR:g} ms", BAR), Row("the slowest first visit", "ms")
    middle = Row("the median of all views", "ms")
    for size in SIZES:
        say(f"page at {size:,}")
        with tempfile.TemporaryDirectory(dir=bench.folder) as empty:
            if size:
                root = bench.project(size).root
            else:
                root = Path(empty)
                init(str(root), name="empty", now=time.time_ns() // 1000)
            took = _visits(root)
        slowest = max(took, key=lambda view: took[view][1])
        row.measured[size], first.measured[size] = took[slowest][1], max(began for began, _ in took.values())
        middle.measured[size] = _median([usual for _, usual in took.values()])
        part.notes.append(f"At {size:,} entries the slowest of {len(took)} views was `{slowest}`.")
    part.rows += [row, middle, first]
    return part


def _visits(root: Path) -> dict[str, tuple[float, float]]:
    """Milliseconds of the first visit and of the usual one, by view."""
    env = {**os.environ, "BACKSTORY_WEB_TOKEN": TOKEN}
    command = [BACKSTORY, "web", "--port", "0"]
    server = subprocess.Popen(command, cwd=root, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr
        said = server.stderr.readline() + server.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
        if not found:
            raise Failed(f"the page did not start: {said}")
        visitor = _Visitor(int(found[1]))
        views = [*VIEWS, *visitor.linked("/entries", "/entry/"), *visitor.linked("/files", "/file/")]
        views += visitor.linked("/cases", "/case/")
        # The first request of all waits for what the server loads, which is no view's time.
        return {view: visitor.times(view) for view in views}
    finally:
        server.kill()
        server.communicate()


class _Visitor:
    def __init__(self, port: int) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Cookie": f"backstory_{port}={TOKEN}"}

    def ask(self, view: str) -> tuple[float, str]:
        """Milliseconds, and what came."""
        began = time.perf_counter()
        self._link.request("GET", view, headers=self._headers)
        answer = self._link.getresponse()
        text = answer.read().decode()
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            raise Failed(f"{view} answers {answer.status}")
        return took, text

    def linked(self, view: str, prefix: str) -> list[str]:
        """The first address with that beginning that a view leads to, if there is one."""
        found = re.search(f'href="({re.escape(prefix)}[^"?]+)"', self.ask(view)[1])
        return [quote(found[1], safe="/%")] if found else []

    def times(self, view: str) -> tuple[float, float]:
        first = self.ask(view)[0]
        return first, _median([self.ask(view)[0] for _ in range(VISITS)])


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
