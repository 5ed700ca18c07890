"""The SessionStart hook of Claude Code, as the host starts it: a process with JSON on stdin."""

import ast
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import backstory
from backstory.project import answers
from tests.project.memory import AGENT, PERSON, START, Memory

PACKAGE = Path(backstory.__file__).parent
ENTRY = PACKAGE / "surfaces/hooks/entry.py"
ARGUMENTS = ["claude-code", "SessionStart"]


def hook(
    stdin: bytes | dict[str, Any],
    *,
    arguments: list[str] | None = None,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as the installer writes it: isolated, without site-packages."""
    data = json.dumps(stdin).encode() if isinstance(stdin, dict) else stdin
    command = [sys.executable, "-I", "-S", str(ENTRY), *(ARGUMENTS if arguments is None else arguments)]
    return subprocess.run(command, input=data, capture_output=True, cwd=cwd, env=env, timeout=60, check=False)


def start(memory: Memory, source: str = "startup", **more: Any) -> dict[str, Any]:
    """What Claude Code sends."""
    return {
        "session_id": "0f3c1a52-7a0e-4c7e-9a38-2f1c5d8e9b11",
        "transcript_path": "/home/ada/.claude/projects/-work-demo/0f3c1a52.jsonl",
        "cwd": str(memory.root),
        "hook_event_name": "SessionStart",
        "source": source,
        **more,
    }


@pytest.fixture
def said(memory: Memory) -> Memory:
    """A memory with something to say, its index current."""
    memory.now = now()
    memory.put("src/a.py", "def f():\n    return 1\n")
    memory.add("decision", "Chose WAL über rollback — 数据库", by=PERSON, files=["src/a.py"])
    memory.add("trial", "Rewrote it with regexes", failure_mode="nested comments", files=["src/a.py#f"])
    memory.commit("Keep the entries")
    with memory.open():
        pass
    return memory


def now() -> int:
    import time

    return time.time_ns() // 1000 - 60_000_000


def text_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """The brief in an envelope that must be exactly that of the event."""
    assert done.returncode == 0, done.stderr
    envelope = json.loads(done.stdout.decode("utf-8"))
    assert list(envelope) == ["hookSpecificOutput"]
    assert list(envelope["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
    assert envelope["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    return str(envelope["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "something new"])
def test_every_source_gets_the_brief_that_the_command_line_gives(said: Memory, source: str) -> None:
    done = hook(start(said, source, model="opus", agent_type="x", nested={"cwd": "/"}, permission_mode="default"))
    text = text_of(done)
    with said.open(now()) as project:
        assert text == answers.brief(project).text
    assert "über" in text and "数据库" in text and "nested comments" in text
    assert done.stdout.endswith(b"\n") and done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_an_index_that_is_behind_gives_the_same_brief(said: Memory) -> None:
    current = text_of(hook(start(said)))
    with said.open() as project:
        index = Path(project.config.places.index_path)
    for suffix in ("", "-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    done = hook(start(said))  # the slow path, which has to bring in site-packages by itself
    assert text_of(done) == current
    said.now = now()
    said.add("decision", "Ship weekly", by=AGENT)
    assert "Ship weekly" in text_of(hook(start(said)))


def test_a_subfolder_and_the_variable_of_the_host_lead_to_the_project(said: Memory, tmp_path: Path) -> None:
    assert text_of(hook(start(said, cwd=str(said.root / "src"))))
    request = start(said)
    del request["cwd"]
    env = {**os.environ, "CLAUDE_PROJECT_DIR": str(said.root)}
    assert text_of(hook(request, env=env, cwd=tmp_path))
    assert text_of(hook(request, cwd=said.root))
    assert hook(request, cwd=tmp_path).stdout == b""


def test_the_session_itself_is_not_the_last_session(said: Memory) -> None:
    said.now = now()
    said.put("mine.py", "x = 1\n")
    assert text_of(hook(start(said, session_id="s-1")))


def silent(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 0
    assert done.stdout == b""
    return done.stderr.decode("utf-8")


def test_with_nothing_to_say_nothing_is_written(memory: Memory) -> None:
    assert silent(hook(start(memory))) == ""
    memory.now = now()
    memory.add("note", "something")
    assert "something" in text_of(hook(start(memory)))


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"\n",
        b"not json",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"cwd": 7}',
        b'{"cwd": ["x"], "session_id": {}}',
    ],
)
def test_a_request_that_makes_no_sense_falls_back_to_the_folder(said: Memory, tmp_path: Path, stdin: bytes) -> None:
    assert text_of(hook(stdin, cwd=said.root))
    assert silent(hook(stdin, cwd=tmp_path)) == ""


def test_a_byte_order_mark_and_deep_nesting_are_no_trouble(said: Memory, tmp_path: Path) -> None:
    assert text_of(hook(b"\xef\xbb\xbf" + json.dumps(start(said)).encode(), cwd=tmp_path))
    assert hook(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", cwd=tmp_path).returncode == 0


def test_twenty_megabytes_are_read_to_the_end_and_dropped(said: Memory, tmp_path: Path) -> None:
    silent(hook(json.dumps(start(said, prompt="x" * 20_000_000)).encode(), cwd=tmp_path))
    assert text_of(hook(start(said, prompt="x" * 1_000_000)))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["claude-code"],
        ["claude-code", "Nonsense"],
        ["nobody", "SessionStart"],
        ["claude-code", "SessionStart", "x"],
    ],
)
def test_an_unknown_client_or_event_is_named_on_stderr(said: Memory, arguments: list[str]) -> None:
    known = "claude-code SessionStart" if arguments[:1] == ["claude-code"] else "clients claude-code, codex, cursor"
    assert known in silent(hook(start(said), arguments=arguments))


def test_a_folder_that_is_gone_and_one_without_a_project_are_silent(said: Memory, tmp_path: Path) -> None:
    assert silent(hook(start(said, cwd=str(tmp_path / "gone/deeper")))) == ""
    assert silent(hook(start(said, cwd=str(tmp_path)))) == ""
    assert silent(hook(start(said, cwd="/"))) == ""
    assert text_of(hook(start(said)))


@pytest.mark.parametrize("damage", [b"", b"garbage", b"SQLite format 3\0" + b"\0" * 4_000])
def test_a_damaged_index_is_made_again(said: Memory, damage: bytes) -> None:
    current = text_of(hook(start(said)))
    with said.open() as project:
        index = Path(project.config.places.index_path)
    for suffix in ("-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    index.write_bytes(damage)
    assert text_of(hook(start(said))) == current


def test_an_index_damaged_in_the_middle_never_fails_the_host(said: Memory) -> None:
    with said.open() as project:
        index = Path(project.config.places.index_path)
        project.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(index.read_bytes())
    for offset in range(4_096, len(data), 4_096):
        data[offset : offset + 200] = b"\xff" * 200
    index.write_bytes(bytes(data))
    for _ in range(2):
        assert hook(start(said)).returncode == 0
    assert text_of(hook(start(said)))


def test_a_damaged_log_hides_no_other_line(said: Memory) -> None:
    (shard,) = (said.root / ".backstory/log").glob("*.jsonl")
    with shard.open("ab") as file:
        file.write(b'{"half": \nnot json at all\n\x00\xff\n{"torn')
    assert "Chose WAL" in text_of(hook(start(said)))


def test_a_held_lock_stops_nobody_who_only_reads(said: Memory) -> None:
    import fcntl

    with (said.root / ".git/backstory/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert text_of(hook(start(said)))
        said.commit("Move the head")
        assert text_of(hook(start(said)))


@pytest.fixture
def read_only(said: Memory) -> Iterator[Memory]:
    """The git dir cannot be written; for root the kernel does not care, so this shows the modes alone."""
    folder = said.root / ".git/backstory"
    paths = [folder, *folder.rglob("*")]
    modes = [(path, path.stat().st_mode) for path in paths]
    for path, mode in modes:
        path.chmod(mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield said
    for path, mode in modes:
        path.chmod(mode)


def test_a_git_dir_that_cannot_be_written_still_gives_a_brief(read_only: Memory) -> None:
    assert text_of(hook(start(read_only)))
    (read_only.root / "README.md").write_text("changed\n", encoding="utf-8")
    assert text_of(hook(start(read_only)))


def test_without_home_and_without_git_on_the_path_it_answers(said: Memory) -> None:
    current = text_of(hook(start(said)))
    env = {name: value for name, value in os.environ.items() if name not in ("HOME", "USERPROFILE")}
    assert text_of(hook(start(said), env=env)) == current
    assert "Chose WAL" in text_of(hook(start(said), env={**os.environ, "PATH": ""}))
    assert "Chose WAL" in text_of(hook(start(said), env={}))
    said.commit("Move the head")
    assert "Chose WAL" in text_of(hook(start(said), env={**os.environ, "PATH": ""}))


def test_entries_from_the_future_of_the_clock_are_shown(memory: Memory) -> None:
    memory.now = START + 400 * 365 * 86_400_000_000 // 4
    memory.add("note", "written by a clock far ahead")
    assert "written by a clock far ahead" in text_of(hook(start(memory)))


def test_a_closed_stdout_or_stderr_is_no_failure(said: Memory) -> None:
    command = f'{sys.executable} -I -S "{ENTRY}" claude-code SessionStart'
    for redirect in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirect}"], cwd=said.root, stdin=subprocess.DEVNULL, check=False
        )
        assert done.returncode == 0, redirect


# -- what the fast path costs

_MODULES = """
import sys
before = set(sys.modules)
sys.argv = ["entry.py", "claude-code", "SessionStart"]
sys.path.insert(0, {source!r})
from backstory.surfaces.hooks import entry
entry.main()
import os
os.write(2, "\\n".join(sorted(set(sys.modules) - before)).encode())
os._exit(0)
"""
# What the standard library needs for these imports, beside our own modules.
ALLOWED = {
    "_signal", "_sqlite3", "_warnings", "_collections_abc", "gc", "errno", "itertools", "math", "time", "backstory",
    "_functools", "select", "os", "os.path", "stat", "_stat", "posixpath", "genericpath", "__future__",
}  # fmt: skip
FORBIDDEN = {
    "json", "re", "sqlite3", "datetime",
    "subprocess", "typing", "dataclasses", "enum", "logging", "msgspec", "pathlib", "hashlib", "inspect",
    "tomllib", "click", "signal", "threading", "tempfile", "contextlib", "site",
}  # fmt: skip
OURS = {
    "backstory.config", "backstory.errors", "backstory.index", "backstory.index.store", "backstory.project",
    "backstory.project.currency", "backstory.project.session_start", "backstory.project.working_set",
    "backstory.project.session_file",
    "backstory.recall", "backstory.recall.brief", "backstory.recall.candidates",
    "backstory.recall.live", "backstory.recall.stamps",
    "backstory.recall.tokens", "backstory.sources", "backstory.sources.git", "backstory.sources.git.head",
    "backstory.sources.git.run", "backstory.sources.git.status", "backstory.surfaces", "backstory.surfaces.hooks",
    "backstory.surfaces.hooks.claude_code", "backstory.surfaces.hooks.entry", "backstory.surfaces.hooks.events",
    "backstory.surfaces.hooks.payload", "backstory.surfaces.hooks.replies",
}  # fmt: skip


def imported(memory: Memory) -> set[str]:
    code = _MODULES.format(source=str(PACKAGE.parent))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(start(memory)).encode(),
        capture_output=True,
        check=True,
    )
    return set(done.stderr.decode().split("\n"))


def test_the_fast_path_imports_these_modules_and_no_others(said: Memory) -> None:
    text_of(hook(start(said)))
    found = imported(said)
    assert "backstory.recall.brief" in found
    assert found & FORBIDDEN == set()
    assert {name for name in found if name.startswith("backstory.")} == OURS
    assert {name for name in found if not name.startswith("backstory.")} <= ALLOWED


_STAND_IN = """
import sys
sys.path.insert(0, {source!r})
from backstory.surfaces.hooks import entry
before = {{name for name in sys.modules if name in ("functools", "collections", "_sqlite3")}}
entry.bring_sqlite()
import _sqlite3
assert not before and "functools" not in sys.modules and "collections" not in sys.modules
db = _sqlite3.connect(":memory:", cached_statements=2)
assert [db.execute(f"SELECT ?, {{n % 3}}", (n,)).fetchone() for n in range(9)] == [(n, n % 3) for n in range(9)]
db.close()
import functools
assert functools.wraps and functools.lru_cache.__module__ == "functools"
import sqlite3
assert sqlite3.connect(":memory:").execute("SELECT 1").fetchone() == (1,)
"""


def test_sqlite_comes_without_functools_and_whoever_asks_later_gets_the_real_one() -> None:
    code = _STAND_IN.format(source=str(PACKAGE.parent))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_the_slow_path_is_the_one_that_imports_more(said: Memory) -> None:
    with said.open() as project:
        Path(project.config.places.index_path).unlink()
    assert imported(said) & FORBIDDEN != set()


def test_package_files_on_the_path_import_nothing() -> None:
    for folder in (
        "",
        "index",
        "project",
        "recall",
        "sources",
        "sources/git",
        "surfaces",
        "surfaces/hooks",
        "log",
        "records",
    ):
        tree = ast.parse((PACKAGE / folder / "__init__.py").read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)], folder
