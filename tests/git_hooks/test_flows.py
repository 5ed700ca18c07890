"""Real git, real hooks: every flow ends as without them, in time, with a clean tree, and the index is current."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backstory.log.lock import held
from backstory.project.git_hooks.rewritten import rewritten
from tests.git_hooks.hooked import change, dirty, install, places, script, timed, warm
from tests.project.memory import Memory


def diverge(memory: Memory, *, conflict: bool = False) -> None:
    """A branch `side` and `main` that both went on by two commits, on one file for a conflict."""
    timed(memory.root, "switch", "-q", "-c", "side")
    for number in (1, 2):
        change(memory, f"side {number}\n", "src/side.py" if not conflict else "src/a.py")
        timed(memory.root, "commit", "-q", "-m", f"side {number}")
    timed(memory.root, "switch", "-q", "main")
    change(memory, "main\n", "src/main.py" if not conflict else "src/a.py")
    timed(memory.root, "commit", "-q", "-m", "main")


def test_a_commit_leaves_the_tree_clean_and_the_index_current(memory: Memory) -> None:
    change(memory, "no hooks yet\n")
    timed(memory.root, "commit", "-q", "-m", "without")
    assert not warm(memory.root, tries=1)
    install(memory.root)
    for options in (["-m", "with"], ["--amend", "-m", "again"], ["-am", "all"], ["-m", "one", "src/a.py"]):
        change(memory, f"{options}\n")
        timed(memory.root, "commit", "-q", *options)
        assert dirty(memory.root) == ""
        assert warm(memory.root), options


def test_merge_cherry_pick_revert_and_checkout_work(memory: Memory) -> None:
    install(memory.root)
    diverge(memory)
    timed(memory.root, "merge", "-q", "--no-edit", "side")
    assert warm(memory.root) and dirty(memory.root) == ""
    timed(memory.root, "revert", "--no-edit", "HEAD~1")
    timed(memory.root, "switch", "-q", "-c", "other", "HEAD~2")
    assert warm(memory.root)
    timed(memory.root, "cherry-pick", "side~1")
    timed(memory.root, "checkout", "-q", "main", "--", "src/a.py")
    assert dirty(memory.root) == ""


def test_a_rebase_with_a_conflict_goes_on_and_its_commits_are_followed(memory: Memory) -> None:
    install(memory.root)
    diverge(memory, conflict=True)
    timed(memory.root, "switch", "-q", "side")
    old = memory.git("rev-parse", "HEAD")
    timed(memory.root, "rebase", "-q", "main", code=1)
    for _ in range(2):
        memory.put("src/a.py", "both\n")
        memory.git("add", "-A")
        done = subprocess.run(
            ["git", "rebase", "--continue"], cwd=memory.root, env={**os.environ, "GIT_EDITOR": "true"},
            capture_output=True, check=False, timeout=20, text=True,
        )  # fmt: skip
        if not done.returncode:
            break
    assert not (memory.root / ".git/rebase-merge").exists()
    assert dirty(memory.root) == "" and warm(memory.root)
    derived = places(memory.root).derived_dir
    new = memory.git("rev-parse", "HEAD")
    mapped = (Path(derived) / "rewritten.txt").read_text().split()
    assert len(mapped) >= 2 and rewritten(derived, mapped[0]) != mapped[0]
    assert rewritten(derived, new) == new
    timed(memory.root, "commit", "-q", "--amend", "-m", "another word")
    assert rewritten(derived, new) == memory.git("rev-parse", "HEAD")
    assert rewritten(derived, mapped[-2]) == memory.git("rev-parse", "HEAD")
    assert rewritten(derived, old) in (old, memory.git("rev-parse", "HEAD"))


def test_a_linked_work_tree_is_served_by_the_hooks_of_the_clone(memory: Memory, tmp_path: Path) -> None:
    install(memory.root)
    linked = tmp_path / "linked tree"
    timed(memory.root, "worktree", "add", "-q", str(linked), "-b", "linked", seconds=3)
    (linked / "src/a.py").write_text("linked\n")
    timed(linked, "commit", "-qam", "in the linked tree")
    assert dirty(linked) == "" and warm(linked)
    old = memory.git("-C", str(linked), "rev-parse", "HEAD")
    timed(linked, "commit", "-q", "--amend", "-m", "again")
    assert rewritten(places(linked).derived_dir, old) == memory.git("-C", str(linked), "rev-parse", "HEAD")
    assert not (memory.root / ".git/backstory/rewritten.txt").exists()


def test_a_submodule_has_hooks_of_its_own(memory: Memory, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    timed(outer, "init", "-q")
    timed(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(memory.root), "sub")
    inner = outer / "sub"
    install(inner)
    assert (outer / ".git/modules/sub/hooks/pre-commit").is_file()
    with Memory(inner, started=True).open():
        pass
    (inner / "src/a.py").write_text("in the submodule\n")
    timed(inner, "commit", "-qam", "inside")
    assert dirty(inner) == "" and warm(inner)
    timed(outer, "commit", "-qam", "outside")


def test_a_clone_without_a_memory_is_left_alone(tmp_path: Path, memory: Memory) -> None:
    """The hooks lie in a folder that every repository of the person uses."""
    shared = tmp_path / "my hooks"
    memory.git("config", "--global", "core.hooksPath", str(shared))
    install(memory.root)
    assert (shared / "pre-commit").is_file()
    for name in ("plain", "with a launcher"):
        bare = tmp_path / name
        bare.mkdir()
        timed(bare, "init", "-q")
        if name != "plain":
            shutil.copytree(
                memory.root / ".git/backstory", bare / ".git/backstory", ignore=shutil.ignore_patterns("*.toml")
            )
        (bare / "x").write_text("x")
        timed(bare, "add", "-A")
        assert "backstory" not in timed(bare, "commit", "-q", "-m", "first")
        timed(bare, "commit", "-q", "--amend", "-m", "second")
        assert dirty(bare) == ""
    change(memory, "the positive control\n")
    timed(memory.root, "commit", "-q", "-m", "served")
    assert warm(memory.root)


# --- a hostile machine -----------------------------------------------------------------------------------------


@contextmanager
def held_store(memory: Memory) -> Iterator[None]:
    with held(places(memory.root).shared_dir):
        yield


@contextmanager
def held_index(memory: Memory) -> Iterator[None]:
    db = sqlite3.connect(places(memory.root).index_path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
        db.close()


@contextmanager
def damaged_log(memory: Memory) -> Iterator[None]:
    [path] = (memory.root / ".backstory/log").glob("*.jsonl")
    path.write_bytes(b"\x00\xff{broken\n" + path.read_bytes()[:-30])
    memory.git("commit", "-qam", "damage")
    yield


@contextmanager
def half_written_index(memory: Memory) -> Iterator[None]:
    path = Path(places(memory.root).index_path)
    data = path.read_bytes()
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(data[: len(data) // 2 + 100])
    yield


@contextmanager
def garbage_index(memory: Memory) -> Iterator[None]:
    Path(places(memory.root).index_path).write_bytes(b"no database " * 1000)
    yield


@contextmanager
def no_home(memory: Memory) -> Iterator[None]:
    """Where nothing can be written, for root too: it is below a file."""
    blocked = memory.root.parent / "no home"
    blocked.write_text("a file")
    names = ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    kept = {name: os.environ[name] for name in names}
    os.environ.update(dict.fromkeys(names, str(blocked / "below")))
    try:
        yield
    finally:
        os.environ.update(kept)


@contextmanager
def unfinished_write(memory: Memory) -> Iterator[None]:
    (Path(places(memory.root).derived_dir) / "pending").write_text("half")
    yield


@contextmanager
def broken_marker(memory: Memory) -> Iterator[None]:
    (memory.root / ".backstory/project.toml").write_text("id = [")
    memory.git("commit", "-qam", "break")
    yield


TROUBLE = (
    held_store, held_index, damaged_log, half_written_index, garbage_index, no_home, unfinished_write, broken_marker,
)  # fmt: skip


@pytest.mark.parametrize("trouble", TROUBLE, ids=lambda one: one.__name__)
def test_a_commit_succeeds_in_time_whatever_is_wrong(memory: Memory, trouble) -> None:  # type: ignore[no-untyped-def]
    install(memory.root)
    with trouble(memory):
        change(memory, "in trouble\n")
        timed(memory.root, "commit", "-q", "-m", "in trouble")
        timed(memory.root, "commit", "-q", "--amend", "-m", "still")
        diverge(memory)
        timed(memory.root, "switch", "-q", "side")
        timed(memory.root, "rebase", "-q", "main", seconds=4)
        assert dirty(memory.root) == ""


def test_a_killed_writers_half_is_not_finished_by_a_hook(memory: Memory) -> None:
    """It would change the log in the tree right after a commit; the next command does it."""
    install(memory.root)
    memory.add("note", "written to both")
    found = places(memory.root)
    [shard] = (memory.root / ".backstory/log").glob("*.jsonl")
    lines = shard.read_bytes().splitlines(keepends=True)
    memory.git("checkout", "-q", "--", ".backstory/log")
    (Path(found.derived_dir) / "pending").write_bytes(b"".join(lines[-1:]))
    change(memory, "committed\n")
    said = timed(memory.root, "commit", "-q", "-m", "a commit")
    assert "not checked: another command has not finished its write" in said
    assert dirty(memory.root) == ""


def test_an_index_that_is_being_written_is_not_waited_for(memory: Memory) -> None:
    change(memory, "x\n")
    with held_index(memory):
        assert run_entry("", "pre-commit", cwd=memory.root) == (
            0, "backstory: not checked: another process is writing the index\n",
        )  # fmt: skip
        assert run_entry("", "post-commit", cwd=memory.root) == (0, "")
    assert "another process" not in run_entry("", "pre-commit", cwd=memory.root)[1]


def test_a_redaction_from_elsewhere_is_not_carried_out_by_a_hook(memory: Memory, tmp_path: Path) -> None:
    """Blanking lines may change the tree right after a merge; the next command does it."""
    from backstory.project.redaction import redact
    from tests.project.memory import PERSON

    install(memory.root)
    secret = memory.add("note", "the words that have to go")
    memory.commit("a note")
    clone = tmp_path / "clone"
    timed(memory.root, "clone", "-q", str(memory.root), str(clone))
    other = Memory(clone, started=True)
    other.now = memory.now
    other.tick()
    with other.open() as project:
        redact(project, PERSON, secret, reason="private")
    other.commit("redacted")
    timed(memory.root, "pull", "-q", "--no-rebase", "--no-edit", str(clone), "main")

    def kept() -> bool:
        return any(b"have to go" in path.read_bytes() for path in (memory.root / ".git/backstory/journal").iterdir())

    assert dirty(memory.root) == "" and kept()
    memory.now = other.now
    with memory.open():
        assert not kept()


def hook(root: Path, shell: list[str], name: str, *args: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*shell, str(root / ".git/hooks" / name), *args], cwd=root, env=env, capture_output=True, check=False,
        stdin=subprocess.DEVNULL, timeout=20,
    )  # fmt: skip


@pytest.mark.parametrize("shell", [[], ["dash"], ["bash", "--posix"], ["busybox", "sh"]], ids=" ".join)
@pytest.mark.parametrize("name", ["pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite"])
def test_each_hook_runs_in_any_shell_with_an_empty_path(memory: Memory, shell: list[str], name: str) -> None:
    if shell and shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    marker = memory.root.parent / "ran"
    interpreter = script(memory.root.parent / "an 'odd' (path)" / "python", f'#!/bin/sh\necho "$@" > "{marker}"\n')
    install(memory.root, python=str(interpreter), entry=__file__)
    found = [str(shutil.which(shell[0])), *shell[1:]] if shell else []
    done = hook(memory.root, found, name, "one", "two words", PATH="")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert marker.read_text() == f"-I -S {__file__} {name} one two words\n"


@pytest.mark.parametrize("gone", ["python", "entry", "launcher"])
def test_a_hook_falls_silent_when_what_it_starts_is_gone(memory: Memory, gone: str) -> None:
    python = script(memory.root.parent / "python", "#!/bin/sh\necho it runs >&2\nexit 4\n")
    entry = script(memory.root.parent / "entry.py", "")
    install(memory.root, python=str(python), entry=str(entry), block=True)
    assert b"it runs" in hook(memory.root, [], "pre-commit", PATH="").stderr
    {"python": python, "entry": entry, "launcher": memory.root / ".git/backstory/git-hook"}[gone].unlink()
    done = hook(memory.root, [], "pre-commit", PATH="")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    change(memory, "x\n")
    timed(memory.root, "commit", "-q", "-m", "x")


@pytest.mark.parametrize(("ended", "stops"), [(0, False), (1, False), (2, False), (3, False), (4, True), (137, False)])
def test_only_the_one_exit_code_stops_a_commit(memory: Memory, ended: int, stops: bool) -> None:
    python = script(memory.root.parent / "python", f"#!/bin/sh\nexit {ended}\n")
    install(memory.root, python=str(python), entry=__file__)
    change(memory, f"{ended}\n")
    timed(memory.root, "commit", "-q", "-m", "x", code=int(stops))
    # Whatever the others end with, git goes on.
    timed(memory.root, "switch", "-q", "-c", "other")
    timed(memory.root, "commit", "-q", "--allow-empty", "--no-verify", "-m", "x")


def test_a_file_that_a_person_marked_stops_a_commit_only_where_that_was_asked_for(memory: Memory) -> None:
    """The real check, from a real commit, with what `commit -a` takes."""
    from tests.project.memory import PERSON

    memory.put("src/b.py", "generated = 1\n")
    # The hook reads the clock of the machine.
    marked = {"path": "src/b.py", "files": ["src/b.py"], "pinned": True, "decay_days": 3_650}
    id_ = memory.add("hotfile", "Never by hand: it is generated", PERSON, **marked)
    memory.act("confirm", id_)
    memory.commit("all of it")
    with memory.open():
        memory.put("src/b.py", "generated = 2\n")
    install(memory.root, block=True)
    said = timed(memory.root, "commit", "-a", "-q", "-m", "by hand", code=1)
    assert "block: " in said and "generated" in said and "the commit was stopped" in said
    assert dirty(memory.root) == " M src/b.py\n"
    install(memory.root)
    said = timed(memory.root, "commit", "-a", "-q", "-m", "by hand")
    assert "block: " in said and "the commit was stopped" not in said
    change(memory, "other = 1\n", "src/other.py")
    assert "block: " not in timed(memory.root, "commit", "-q", "-m", "another file")


def run_entry(code: str, *words: str, cwd: Path) -> tuple[int, str]:
    """The entry, with `code` run before it."""
    source = f"import sys, time, sqlite3, backstory.project.git_hooks.running as running\n{code}\n"
    source += f"import backstory.surfaces.hooks.git as git\ngit.os._exit(git.main({list(words)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=cwd, capture_output=True, text=True, check=False, timeout=20,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr


HANGS = {
    "in python": "running.run = lambda *a, **k: time.sleep(30)",
    "in the database": (
        "import tempfile, os; path = os.path.join(tempfile.mkdtemp(), 'x'); one = sqlite3.connect(path);"
        "one.execute('BEGIN EXCLUSIVE'); two = sqlite3.connect(path, timeout=30);"
        "running.run = lambda *a, **k: two.execute('BEGIN EXCLUSIVE')"
    ),
    "and takes every exception": (
        "def run(*a, **k):\n  while True:\n    try: time.sleep(30)\n    except BaseException: pass\nrunning.run = run"
    ),
}


@pytest.mark.parametrize("how", HANGS)
def test_a_hook_that_hangs_ends_in_time_and_says_so(memory: Memory, how: str) -> None:
    for name in ("pre-commit", "post-commit"):
        code, said = run_entry(HANGS[how], "--block", name, cwd=memory.root)
        assert code == 0
        assert said == ("backstory: not checked: time ran out\n" if name == "pre-commit" else "")


def test_a_fault_of_ours_is_one_line_and_no_failure(memory: Memory) -> None:
    code, said = run_entry(
        "def run(*a, **k): raise ValueError('odd')\nrunning.run = run", "pre-commit", cwd=memory.root
    )
    assert (code, said.count("\n")) == (0, 1)
    assert "ValueError: odd" in said and "backstory doctor" in said
    assert run_entry("", "pre-push", cwd=memory.root)[0] == 0


def test_nothing_heavy_is_imported_where_nothing_is_to_be_done(memory: Memory) -> None:
    import backstory

    entry = Path(backstory.__file__).parent / "surfaces/hooks/git.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(entry), "post-commit"],
        cwd=memory.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"_sqlite3", "backstory.project.git_hooks.running"} <= names
    heavy = {"click", "duckdb", "msgspec", "subprocess", "json", "typing", "mcp", "signal", "enum", "re", "threading"}
    assert not names & heavy


def test_many_runs_leave_no_process_and_no_file_behind(memory: Memory) -> None:
    def files() -> list[str]:
        """What is there, but for what SQLite keeps beside an open index."""
        found = (path for path in memory.root.rglob("*") if "objects" not in path.parts)
        return sorted(path.as_posix() for path in found if not path.name.endswith(("-wal", "-shm")))

    install(memory.root)
    change(memory, "once\n")
    timed(memory.root, "commit", "-q", "-m", "once")
    before = files()
    for number in range(40):
        name = ("pre-commit", "post-commit", "post-merge", "post-checkout")[number % 4]
        assert hook(memory.root, [], name, **dict(os.environ)).returncode == 0
    assert files() == before
    (memory.root / "one more").write_text("the control")
    assert files() != before
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    assert not children.exists() or children.read_text().split() == []
