"""Faults that were reported of memories in the hands of agents: processes left over, latency, time limits, cost.

The numbers are those of the list of faults that this project keeps.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.surfaces.hooks import entry
from tests.acceptance.world import World
from tests.project.memory import Memory
from tests.storekit import git

PATH = "src/parse.py"
# Starts a server as a client does, says its process id, and waits to be killed.
CLIENT = """
import subprocess, sys, time
server = subprocess.Popen([sys.executable, "-m", "backstory", "mcp", "--project", sys.argv[1]], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
print(server.pid, flush=True)
time.sleep(60)
"""


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_01_a_client_that_is_killed_leaves_no_server_behind(world: World) -> None:
    world.say("note", "Something is known")
    clients = [
        subprocess.Popen([sys.executable, "-c", CLIENT, str(world.root)], stdout=subprocess.PIPE) for _ in range(6)
    ]
    servers = []
    for client in clients:
        assert client.stdout is not None
        servers.append(int(client.stdout.readline()))
    assert all(map(alive, servers))
    for client in clients:
        client.send_signal(signal.SIGKILL)
        client.wait()
    until = time.monotonic() + 20
    while any(map(alive, servers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in servers if alive(pid)]


def test_02_nothing_is_spent_and_status_says_so(world: World) -> None:
    world.say("note", "Something is known", "-f", world.put(PATH))
    for event in ("SessionStart", "Stop", "SessionEnd"):
        assert world.hook("claude-code", event).code == 0
    assert world.ask("status")["spent_tokens"] == 0


def test_06_the_check_asks_git_the_same_few_times_at_any_size_of_the_log(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    folder = tmp_path / "counting"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho x >> "{folder}/calls"\nexec {real} "$@"\n', encoding="utf-8")
    (folder / "git").chmod(0o755)
    files = [world.put(f"src/f{number}.py") for number in range(50)]
    git(world.root, "add", "-A")
    git(world.root, "commit", "-q", "-m", "files")

    def calls() -> int:
        world.ask("check", *files)
        before = (folder / "calls").read_text().count("x") if (folder / "calls").exists() else 0
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
            world.ask("check", *files)
        return (folder / "calls").read_text().count("x") - before if (folder / "calls").exists() else 0

    world.say("decide", "The first of them", "-f", files[0])
    few = calls()
    memory = Memory(world.root, started=True)
    memory.now = time.time_ns() // 1_000 - 3_600_000_000
    memory.bulk(
        [
            {"kind": "decision", "summary": f"Number {number} of many", "files": [{"path": files[number % 50]}]}
            for number in range(1_000)
        ]
    )
    assert "Number 999 of many" in world.cli("why", files[49]).out
    many = calls()
    assert many <= few + 2 and many <= len(files) + 2


def test_54_what_a_session_changed_is_counted_and_a_person_walks_through_what_waits(world: World) -> None:
    world.say("decide", "Keep the parser small", "-f", world.put(PATH), session="s-now")
    world.capture("decision", "Keep the lexer small", files=[PATH], session="s-now")
    assert "Keep the lexer small" in world.cli("review").out and "Keep the parser small" not in world.cli("review").out
    assert world.ask("status")["waiting"] == 1
    assert "approved" in world.person("review", keys="aq").out.lower() or world.ask("status")["waiting"] == 0


def test_55_no_generated_time_limit_is_over_five_seconds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["HOME"])
    for name in (".codex", ".cursor", ".gemini", ".codeium", ".claude", ".copilot"):
        (home / name).mkdir(exist_ok=True)
    monkeypatch.chdir(world.root)
    clients = ("claude-code", "codex", "cursor", "gemini", "vscode", "windsurf", "cline", "opencode")
    assert world.cli("install", *clients, "--yes").code == 0
    found = []
    for path in world.root.rglob("*"):
        if path.is_file() and ".git" not in path.parts and path.suffix in (".json", ".ts", ".toml"):
            text = path.read_text(encoding="utf-8")
            if "backstory" in text and ("hooks" in path.name or '"hooks"' in text or path.suffix == ".ts"):
                found += [
                    (path.name, int(value)) for value in re.findall(r'(?:timeout|TIMEOUT)"?\s*[:=]\s*(\d+)', text)
                ]
    assert len(found) > 10
    assert not [item for item in found if item[1] > 5 and item[1] not in (5_000, 15_000)]
    assert entry.HARD_SECONDS < 5
