"""The page in a real browser, served by a real process that a person started; without a browser every test skips.

`make test-page` installs what these tests need and runs them.
"""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.project.memory import Memory
from tests.web.conftest import memory  # noqa: F401 (a fixture)

VIEWS = (
    "/", "/entries", "/entries?show=all", "/timeline", "/cases", "/files", "/themes", "/sessions", "/freshness",
    "/conflicts", "/review", "/log", "/stats", "/doctor", "/search?q=lock",
)  # fmt: skip
# Debian's Chromium asks its makers for news at every start otherwise; nothing here is asked of a network.
FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def _axe() -> Path:
    folder = os.environ.get("TEST_PAGE", "")
    if not folder:
        pytest.skip("TEST_PAGE names no folder with axe-core; `make test-page` installs it and sets it")
    return Path(folder, "node_modules", "axe-core", "axe.min.js")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium: the one on PATH, or the one that Playwright brought."""
    found = _axe()
    assert found.is_file(), f"{found} is missing; `make test-page` installs it"
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright here; `make test-page` installs it")
    flags = [*FLAGS, *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        yield started
        started.close()


class Page:
    """`backstory web` of one project, and visits to it. Everything that a visit asked for is kept in `asked`."""

    def __init__(self, root: Path, browser: Any) -> None:
        self.root, self.browser = root, browser
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._process, self._terminal, said = _started(root)
        found = re.search(r"(http://127\.0\.0\.1:(\d+))/\?token=(\S+)", said)
        assert found, said
        self.origin, self.port, self.token = found[1], int(found[2]), found[3]

    def visit(self, address: str = "/", **how: Any) -> Any:
        """A tab of a new visitor that has been let in, at `address`."""
        context = self.browser.new_context(**how)
        tab = context.new_page()
        tab.on("request", lambda request: self.asked.append(request.url))
        tab.on("console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        tab.goto(f"{self.origin}/?token={self.token}")
        tab.wait_for_url(f"{self.origin}/")
        if address != "/":
            tab.goto(self.origin + address)
        return tab

    def quiet(self) -> None:
        """Nothing was asked of anybody else, and the browser found nothing to complain about."""
        assert self.asked
        elsewhere = [url for url in self.asked if not url.startswith((f"{self.origin}/", "data:", "blob:"))]
        assert (elsewhere, self.complaints) == ([], [])

    def run(self, *arguments: str) -> str:
        """The command in that project, as a person would call it elsewhere."""
        command = [sys.executable, "-m", "backstory", *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def stop(self) -> None:
        """End the process; whoever looks at the page is left with it."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        for context in self.browser.contexts:
            context.close()
        self.stop()
        os.close(self._terminal)


def _started(root: Path) -> tuple[subprocess.Popen[bytes], int, str]:
    pty = pytest.importorskip("pty", reason="a person's terminal is played by a pseudo-terminal")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "backstory", "web", "--port", "0"]
    process = subprocess.Popen(command, cwd=root, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    said, end = "", time.monotonic() + 30
    while not re.search(r"token=\S+\s", said) and time.monotonic() < end:
        if select.select([ours], [], [], 0.5)[0]:
            said += os.read(ours, 4096).decode()
    return process, ours, said


@pytest.fixture
def serve(browser: Any) -> Iterator[Callable[[Memory], Page]]:
    """Serve a memory; what was started is stopped."""
    started: list[Page] = []

    def start(served: Memory) -> Page:
        started.append(Page(served.root, browser))
        return started[-1]

    yield start
    for page in started:
        page.close()


def faults(tab: Any) -> list[str]:
    """What axe-core calls serious or critical on the page that is open, each with where it is."""
    # By the protocol of the browser, since the page itself lets nobody add a script to it.
    tab.evaluate(_axe().read_text(encoding="utf-8"))
    found = json.loads(tab.evaluate("axe.run().then((found) => JSON.stringify(found.violations))"))
    return [
        f"{fault['id']}: {node['target']} {node['html'][:200]}"
        for fault in found
        for node in fault["nodes"]
        if fault["impact"] in ("serious", "critical")
    ]
