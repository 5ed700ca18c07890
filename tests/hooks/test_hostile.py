"""Hooks on a hostile machine: whatever is wrong, the host gets exit 0, valid JSON or nothing, in time; no litter."""

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import backstory
from backstory.config import locate
from backstory.surfaces.hooks import entry
from tests.hooks.session import ENTRY, ClaudeCode, parsed, run, tool
from tests.hooks.test_claude_code import now, refuse
from tests.project.memory import PERSON, Memory

WAL = "Chose WAL over rollback"
# The hook ends itself after four seconds; a shared machine needs a little more to start and end a process.
SECONDS = 6.0


@pytest.fixture
def told(memory: Memory) -> Memory:
    """Something to say at the start, at a read and before an edit, where refusals were asked for."""
    memory.now = now()
    memory.put("src/a.py", "x = 1\n")
    memory.add("decision", WAL, by=PERSON, files=["src/a.py"])
    refuse(memory, "info")
    memory.commit("Keep it")
    with memory.open():
        pass
    return memory


def request(memory: Memory, session: str = "h-1") -> dict[str, Any]:
    """One object that has what any event of any client looks for."""
    path = str(memory.root / "src/a.py")
    given = {
        "file_path": path,
        "filePath": path,
        "path": path,
        "content": "y = 2",
        "newString": "y = 2",
        "command": "make",
    }
    return {
        "cwd": str(memory.root),
        "session_id": session,
        "sessionId": session,
        "conversation_id": session,
        "taskId": session,
        "trajectory_id": session,
        "source": "startup",
        "prompt": "Fix src/a.py",
        "error": "exit 1",
        "tool_name": "Read",
        "tool_input": given,
        "tool_info": {"file_path": path},
        "postToolUse": {"toolName": "read_file", "parameters": given},
    }


def timed(client: str, event: str, stdin: bytes | dict[str, Any], **options: Any) -> dict[str, Any]:
    """The envelope, within the time."""
    began = time.monotonic()
    envelope = parsed(run(client, event, stdin, **options))
    assert time.monotonic() - began < SECONDS
    return envelope


def all_events(memory: Memory, session: str, **options: Any) -> dict[str, str]:
    """Every event of Claude Code; what each said."""
    return {
        event: json.dumps(timed("claude-code", event, request(memory, session), **options), ensure_ascii=False)
        for event in entry.events_of("claude-code")
    }


def speaks(said: dict[str, str]) -> bool:
    """Whether the brief came."""
    return WAL in said["SessionStart"]


# -- stdin


@pytest.mark.parametrize("client", entry.CLIENTS)
def test_stdin_that_makes_no_sense_is_survived(told: Memory, tmp_path: Path, client: str) -> None:
    odd = [
        b"",
        b"not json",
        b"[1, 2]",
        b"\xff\xfe{\x00}\x00",
        b'{"cwd": "' + str(told.root).encode() + b'", "session_id": "a\\u0000b", "prompt": "\\ud800 src/a.py"}',
        json.dumps({name: {"nested": [1, None]} for name in request(told)}).encode(),
        json.dumps({name: [[]] for name in request(told)}).encode(),
        json.dumps({name: 1e999 for name in request(told)}).encode(),
    ]
    for event in entry.events_of(client):
        for stdin in odd:
            timed(client, event, stdin, cwd=tmp_path)


@pytest.mark.parametrize("client", entry.CLIENTS)
def test_a_client_of_a_newer_version_is_understood_as_far_as_it_is_the_same(told: Memory, client: str) -> None:
    newer = {**request(told, "two"), "hook_event_name": {"name": 1}, "version": [9, 9], "": None, "$.cwd": "/"}
    newer["tool_input"] = {**newer["tool_input"], "edits": "none", "new": {"deep": [{"deeper": True}]}}
    newer["tool_response"] = 7
    for event in entry.events_of(client):
        assert timed(client, event, newer) == timed(client, event, request(told, "one"))


def test_fifty_megabytes_are_read_to_the_end(told: Memory, tmp_path: Path) -> None:
    huge = json.dumps({**request(told), "tool_input": {"file_path": "x", "content": "y" * 50_000_000}}).encode()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"):
        assert timed("claude-code", event, huge, cwd=tmp_path) == {}
    assert WAL in json.dumps(timed("claude-code", "SessionStart", huge, cwd=told.root))


def test_a_host_that_never_closes_stdin_is_left_after_four_seconds(told: Memory) -> None:
    command = [sys.executable, "-I", "-S", str(ENTRY), "claude-code", "SessionStart"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        began = time.monotonic()
        assert process.wait(30) == 0
        assert 2 < time.monotonic() - began < SECONDS
        assert process.stdout.read() == b""


@pytest.mark.parametrize("words", [("nobody", "SessionStart"), ("claude-code", "Nonsense"), ("../x", "y"), ("", "")])
def test_an_unknown_client_or_event_is_said_on_stderr(told: Memory, words: tuple[str, str]) -> None:
    done = run(*words, request(told))
    assert (done.returncode, done.stdout) == (0, b"") and b"no hook" in done.stderr


# -- the machine


def test_a_home_and_a_project_with_spaces_and_parentheses(told: Memory, tmp_path: Path) -> None:
    home = tmp_path / "First Last (x) 'y' $HOME"
    (home / "a project").mkdir(parents=True)
    root = home / "a project" / "the repo (2)"
    shutil.copytree(told.root, root, symlinks=True)
    moved = Memory(root, started=True)
    moved.now = now() + 20_000_000
    env = {**os.environ, "HOME": str(home), "USERPROFILE": str(home)}
    said = all_events(moved, "s p (1)", env=env)
    assert speaks(said) and WAL not in said["PostToolUse"]
    assert WAL in json.dumps(timed("claude-code", "PostToolUse", request(moved, "s-2"), env=env))


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_installed_command_line_runs_in_a_shell_from_such_a_folder(
    told: Memory, tmp_path: Path, shell: str
) -> None:
    from backstory.project.clients.commands import Commands

    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell}")
    place = tmp_path / "First Last (x) 'y' $HOME"
    package = place / "lib/backstory"
    shutil.copytree(Path(backstory.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    line = Commands(sys.executable, str(package / "surfaces/hooks/entry.py")).hook("claude-code", "SessionStart")
    stdin = json.dumps(request(told)).encode()
    done = subprocess.run([found, "-c", line], input=stdin, capture_output=True, check=False, cwd="/")
    assert WAL in json.dumps(parsed(done))


def test_path_is_empty_and_so_is_the_rest_of_the_environment(told: Memory) -> None:
    for number, env in enumerate(({**os.environ, "PATH": ""}, {})):
        assert speaks(all_events(told, f"s-{number}", env=env))


@pytest.fixture
def unprivileged() -> list[str]:
    """A prefix that runs a command so that file modes count; root is not held by them."""
    if os.geteuid() != 0:
        return []
    found = shutil.which("setpriv")
    if found is None:
        pytest.skip("root is not held by file modes, and there is no setpriv to become somebody else")
    # Root without its capabilities still owns the files, and is held by their modes.
    return [found, "--bounding-set=-all", "--inh-caps=-all"]


@pytest.fixture
def read_only(told: Memory, isolated: Path) -> Iterator[Memory]:
    """Neither the home folder nor the git folder can be written."""
    places = [isolated, *isolated.rglob("*"), *[told.root / ".git", *(told.root / ".git").rglob("*")]]
    modes = [(path, path.lstat().st_mode) for path in places if not path.is_symlink()]
    for path, mode in modes:
        path.chmod(mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield told
    for path, mode in modes:
        path.chmod(mode)


@pytest.mark.parametrize("behind", [False, True])
def test_nothing_can_be_written(read_only: Memory, unprivileged: list[str], behind: bool) -> None:
    probe = subprocess.run(
        [*unprivileged, "touch", str(read_only.root / ".git/probe")], check=False, capture_output=True
    )
    assert probe.returncode != 0, "the modes hold nobody"
    if behind:
        marker = read_only.root / ".backstory/project.toml"
        marker.write_text(marker.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in read_only.root.rglob("*")}
    for event in entry.events_of("claude-code"):
        for _ in range(2):
            began = time.monotonic()
            done = subprocess.run(
                [*unprivileged, sys.executable, "-I", "-S", str(ENTRY), "claude-code", event],
                input=json.dumps({**request(read_only), "tool_name": "Edit"}).encode(),
                capture_output=True,
                check=False,
            )
            assert time.monotonic() - began < SECONDS
            said = json.dumps(parsed(done))
            # A refusal that cannot be remembered would be one for ever.
            assert "deny" not in said
            assert event != "SessionStart" or WAL in said, done.stderr
    assert {path: path.stat().st_mtime_ns for path in read_only.root.rglob("*")} == before


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Any]:
    """Starts another process that holds something until the test is over."""
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str, *arguments: str) -> None:
        text = f"import sys, time\n{code}\nprint('held', flush=True)\ntime.sleep(100)\n"
        process = subprocess.Popen([sys.executable, "-c", text, *arguments], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == b"held\n"

    yield start
    for process in started:
        process.kill()
        process.communicate()


_LOCK = "import fcntl\nfile = open(sys.argv[1], 'w')\nfcntl.flock(file, fcntl.LOCK_EX)"
_BEGIN = "import sqlite3\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\ndb.execute('BEGIN IMMEDIATE')"
_EXCLUSIVE = (
    "import sqlite3\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    "db.execute('PRAGMA locking_mode=EXCLUSIVE')\ndb.execute('BEGIN EXCLUSIVE')"
)


@pytest.mark.parametrize("behind", [False, True])
def test_another_process_holds_the_store(told: Memory, holder: Any, behind: bool) -> None:
    places = locate(str(told.root))
    holder(_LOCK, str(Path(places.shared_dir, "lock")))
    holder(_BEGIN, places.index_path)
    if behind:
        marker = told.root / ".backstory/project.toml"
        marker.write_text(marker.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    said = all_events(told, "s-1")
    assert speaks(said) or behind


def test_another_process_holds_the_index_alone(told: Memory, holder: Any) -> None:
    holder(_EXCLUSIVE, locate(str(told.root)).index_path)
    all_events(told, "s-1")


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9])
def test_an_index_that_was_half_written(told: Memory, part: float) -> None:
    index = Path(locate(str(told.root)).index_path)
    with sqlite3.connect(index) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = index.read_bytes()
    for suffix in ("-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    index.write_bytes(data[: int(len(data) * part)])
    all_events(told, "s-1")
    for _ in range(3):
        if speaks(all_events(told, "s-2")):
            break
    else:
        pytest.fail("the index is not made again")


def test_a_log_that_is_damaged_hides_no_other_line(told: Memory) -> None:
    (shard,) = (told.root / ".backstory/log").glob("*.jsonl")
    text = shard.read_bytes()
    shard.write_bytes(b'{"half": \n\x00\xff\n' + text + b'{"torn')
    assert speaks(all_events(told, "s-1"))
    shard.write_bytes(b"\x00" * len(text))
    all_events(told, "s-2")


@pytest.mark.parametrize("damage", [b"", b"id = \n", b"\xff\xfe", b'[hooks]\nrefuse = "never"\n'])
def test_a_marker_that_is_damaged(told: Memory, damage: bytes) -> None:
    marker = told.root / ".backstory/project.toml"
    text = marker.read_bytes()
    marker.write_bytes(damage)
    all_events(told, "s-1")
    marker.write_bytes(text)
    assert speaks(all_events(told, "s-2"))


def test_a_session_file_that_is_damaged(told: Memory) -> None:
    session = ClaudeCode(told, "h-1")
    session.file.parent.mkdir(parents=True, exist_ok=True)
    session.file.write_bytes(b"\x00\xff\t\nforget\ntold\n" * 1_000)
    assert WAL in session.read("src/a.py")
    assert session.read("src/a.py") == ""
    session.file.write_bytes(b"told\tx\n" * 100_000)
    for _ in range(2):
        assert WAL in session.read("src/a.py")
        assert session.about_to("Edit", **session.edit("src/a.py", "y")) == {}, "it could not be remembered"
    assert session.file.stat().st_size < 800_000


def test_a_clock_that_runs_backwards(told: Memory, tmp_path: Path) -> None:
    # The process's own clock, set back by years: the entry point reads it through `time.time_ns`.
    code = (
        "import sys, time\n"
        f"sys.path.insert(0, {str(Path(backstory.__file__).parent.parent)!r})\n"
        "time.time_ns = lambda: 1_000_000_000_000_000_000\n"
        "time.time = lambda: 1_000_000_000.0\n"
        "from backstory.surfaces.hooks import entry\n"
        "entry.main()\n"
    )
    for event in entry.events_of("claude-code"):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, "claude-code", event],
            input=json.dumps(request(told)).encode(),
            capture_output=True,
            check=False,
        )
        parsed(done)
    future = time.time() + 10 * 365 * 86_400
    for path in (told.root / ".git/backstory").rglob("*"):
        os.utime(path, (future, future))
    os.utime(told.root / "src/a.py", (future, future))
    assert speaks(all_events(told, "s-2"))


# -- what is left behind


def _children() -> set[int]:
    """The processes that descend from this one, or were left to the first of all, and run our entry."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(ENTRY).encode() in path.read_bytes():
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are counted through /proc")
def test_five_hundred_runs_leave_no_process_and_no_file_behind(told: Memory, isolated: Path, tmp_path: Path) -> None:
    all_events(told, "h-1")

    # Other tests run hooks at the same time: ours are told by the folder that they were started in.
    def ours() -> set[int]:
        return {pid for pid in _children() if _cwd(pid) == str(tmp_path.resolve())}

    def files() -> set[Path]:
        return {path for top in (told.root, isolated, tmp_path) for path in top.rglob("*")}

    before = files()
    moments = list(entry.events_of("claude-code"))

    def once(number: int) -> int:
        event = moments[number % len(moments)]
        return run("claude-code", event, request(told), cwd=tmp_path).returncode

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(once, range(500))) == {0}
    assert files() - before == set()
    assert ours() == set()
    assert (told.root / ".git/backstory/sessions/h-1.txt").stat().st_size < 1 << 17


def _cwd(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the host kills by other means here")
def test_a_hook_whose_host_is_killed_leaves_no_process(told: Memory, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(ENTRY), "claude-code", "SessionStart"]
    code = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen({command!r}, stdin=subprocess.PIPE, cwd={str(tmp_path)!r})\n"
        "print(p.pid, flush=True)\ntime.sleep(100)\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    host.kill()
    host.communicate()
    limit = time.monotonic() + SECONDS
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return
        time.sleep(0.05)
    pytest.fail("the hook outlived its host")


def test_a_session_tool_that_is_unknown_says_nothing(told: Memory) -> None:
    session = ClaudeCode(told)
    assert session.send("PostToolUse", **tool("Teleport", {"file_path": str(told.root / "src/a.py")}, {})) == {}
    assert WAL in session.read("src/a.py")
