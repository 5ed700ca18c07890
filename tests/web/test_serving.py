"""`backstory web` as a process: where it listens, what it prints, how it ends."""

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.project.memory import Memory

Served = tuple[subprocess.Popen[str], int, str]


@pytest.fixture
def serving(memory: Memory) -> Iterator[Callable[..., Served]]:
    """Start it; gives the process, its port and its token."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **env: str) -> Served:
        command = [sys.executable, "-m", "backstory", "web", "--port", "0", *arguments]
        process = subprocess.Popen(
            command,
            cwd=memory.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )
        started.append(process)
        assert process.stderr
        said = process.stderr.readline() + process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said)
        assert found, said + process.stderr.read()
        return process, int(found[1]), found[2]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ask(port: int, address: str, **headers: str) -> tuple[int, str]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        link.request("GET", address, headers=headers)
        answer = link.getresponse()
        return answer.status, answer.read().decode()
    finally:
        link.close()


def test_it_prints_where_it_is_serves_with_the_token_alone_and_ends_on_ctrl_c(
    serving: Callable[..., Served], filled: dict[str, str]
) -> None:
    process, port, token = serving()
    assert len(token) >= 32
    assert ask(port, "/entries")[0] == 401
    status, text = ask(port, "/entries", Cookie=f"backstory_{port}={token}")
    assert status == 200 and "Chose WAL mode" in text
    # Started without a terminal: it shows and changes nothing.
    assert "This page only shows" in text
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode in (0, 130) and out == "" and "Traceback" not in err


def test_a_token_of_ones_own_is_not_printed(serving: Callable[..., Served]) -> None:
    mine = "a-token-of-my-own-for-this"
    _, port, shown = serving(BACKSTORY_WEB_TOKEN=mine)
    assert shown == "..."
    assert ask(port, "/", Cookie=f"backstory_{port}={mine}")[0] == 200


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "other machines could reach it"),
        (["--host", "example.org"], "other machines could reach it"),
        (["--port", "70000"], "70000"),
        (["--port", "x"], "x"),
    ],
)
def test_an_address_that_others_could_reach_is_refused(memory: Memory, arguments: list[str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "backstory", "web", *arguments],
        cwd=memory.root, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (2, 4) and words in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_port_that_is_taken_and_a_folder_without_a_memory_are_said(
    serving: Callable[..., Served], memory: Memory, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, port, _ = serving()
    for folder, arguments, words, code in (
        (memory.root, ["--port", str(port)], f"Port {port}", 4),
        (tmp_path_factory.mktemp("bare"), [], "backstory init", 3),
    ):
        command = [sys.executable, "-m", "backstory", "web", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (code, "")
        assert words in done.stderr and "Traceback" not in done.stderr
