"""One git process: read-only, in time, and gone afterwards."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.sources.git import run
from backstory.sources.git.run import git

from .conftest import Repository, make

SRC = Path(__file__).resolve().parents[3] / "src"
LIGHT = {"__future__", "_collections_abc", "_stat", "genericpath", "os", "os.path", "posixpath", "select", "stat"}
HEAVY = {"subprocess", "re", "typing", "dataclasses", "json", "enum", "signal", "contextlib", "collections"}


def handles() -> int:
    """How many handles this process has open."""
    return len(os.listdir("/dev/fd"))


def alive(pid: int) -> bool:
    """Whether a process exists, a zombie included."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_git_answers_with_code_output_and_what_it_said(project: Repository) -> None:
    """Both streams and the code come back."""
    good = git(["rev-parse", "--is-inside-work-tree"], str(project))
    assert (good.code, good.out, good.timed_out) == (0, b"true\n", False)
    bad = git(["rev-parse", "--verify", "nowhere"], str(project))
    assert (bad.code, bad.out) == (128, b"")
    assert b"fatal" in bad.err


def test_git_reads_standard_input_larger_than_a_pipe(project: Repository) -> None:
    """Several pipes full in and out at once do not deadlock."""
    names = b"".join(b"nowhere%d\n" % number for number in range(30_000))
    result = git(["cat-file", "--batch-check", "--buffer"], str(project), stdin=names, timeout=60)
    assert result.code == 0
    assert result.out.count(b"missing\n") == 30_000


def test_standard_input_is_closed_and_never_ours(project: Repository) -> None:
    """A command that reads standard input gets nothing instead of waiting."""
    assert git(["hash-object", "--stdin"], str(project), timeout=20).code == 0


def test_git_that_stops_reading_its_input_is_no_error(fake_git, tmp_path: Path) -> None:
    """A closed pipe on the far side ends the feeding."""
    fake_git("exec 0<&-; sleep 0.2; echo done")
    assert git(["x"], str(tmp_path), stdin=b"x" * 1_000_000, timeout=20).out == b"done\n"


@pytest.mark.parametrize("stuck", ["beat", "trap '' TERM; beat & wait", "exec >&- 2>&-; beat & beat"])
def test_a_slow_git_is_killed_with_its_children_and_reaped(fake_git, tmp_path: Path, stuck: str) -> None:
    """The call ends at its time limit; neither git, nor what it started, nor a handle is left."""
    beat = 'beat() { while :; do echo >>"$trace/beat"; sleep 0.02; done; }'
    trace = fake_git(f'{beat}; echo $$ >"$trace/pid"; echo early; {stuck}')
    opened = handles()
    start = time.monotonic()
    result = git(["status"], str(tmp_path), timeout=0.5)
    assert time.monotonic() - start < 10
    assert (result.timed_out, result.code) == (True, -9)
    assert handles() == opened
    assert not alive(int((trace / "pid").read_text()))
    beats = (trace / "beat").stat().st_size
    assert beats > 1
    time.sleep(0.2)
    assert (trace / "beat").stat().st_size == beats
    assert ended_child() == 0


def ended_child() -> int:
    """The id of a child that ended and was not waited for, 0 if there is none; other tests may have living ones."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


def test_output_past_the_limit_ends_git(fake_git, tmp_path: Path) -> None:
    """An endless output is cut at the limit; output that just fits is whole."""
    fake_git('[ "$7" = short ] || [ "$8" = short ] && printf 12345 && exit 0; yes')
    cut = git(["log"], str(tmp_path), limit=5, timeout=20)
    assert (cut.code, cut.out, cut.timed_out) == (-9, b"y\ny\ny", False)
    whole = git(["short"], str(tmp_path), limit=5, timeout=20)
    assert (whole.code, whole.out) == (0, b"12345")


def test_an_endless_complaint_is_cut(fake_git, tmp_path: Path) -> None:
    """Standard error is bounded without a limit of the caller."""
    fake_git("head -c 3000000 /dev/zero >&2; echo fine")
    result = git(["log"], str(tmp_path), timeout=20)
    assert (result.out, len(result.err)) == (b"fine\n", 65536)


def test_an_interrupted_caller_leaves_no_process(fake_git, tmp_path: Path, monkeypatch) -> None:
    """Ctrl-C in the middle kills git too."""
    trace = fake_git('echo $$ >"$trace/pid"; sleep 60')

    def interrupt(*_: object) -> bool:
        while not (trace / "pid").exists() or not (trace / "pid").read_text():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_pump", interrupt)
    with pytest.raises(KeyboardInterrupt):
        git(["status"], str(tmp_path))
    assert not alive(int((trace / "pid").read_text()))


def test_git_missing_from_path_is_code_127(tmp_path: Path, monkeypatch) -> None:
    """No exception, and no handle left open."""
    monkeypatch.setenv("PATH", str(tmp_path))
    opened = handles()
    result = git(["status"], str(tmp_path))
    assert (result.code, result.out) == (127, b"")
    assert result.err
    assert handles() == opened


def test_an_argument_with_nul_is_code_127(project: Repository) -> None:
    """What cannot be passed to a process is refused like a missing program."""
    assert git(["cat-file", "blob", "HEAD:a\0b"], str(project)).code == 127


def test_a_missing_folder_is_a_failure_of_git(tmp_path: Path) -> None:
    """It is not read as the current folder."""
    assert git(["rev-parse", "--git-dir"], str(tmp_path / "nowhere")).code == 128


def test_the_environment_does_not_lead_to_another_repository(project, tmp_path: Path, monkeypatch) -> None:
    """What a git hook of another repository exports is dropped."""
    other = make(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", other.git_dir)
    control = subprocess.check_output(["git", "-C", str(project), "rev-parse", "--absolute-git-dir"], text=True)
    assert Path(control.strip()).samefile(other.root / ".git")
    for name in ("GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX"):
        monkeypatch.setenv(name, str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare'='true'")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.worktree")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(other))
    out = git(["rev-parse", "--show-toplevel"], str(project)).out.decode().strip()
    assert Path(out).samefile(project.root)


def test_settings_that_a_host_passes_by_environment_hold(project: Repository, monkeypatch) -> None:
    """A container that trusts a folder through GIT_CONFIG_COUNT still does."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Set By Host")
    assert git(["config", "user.name"], str(project)).out == b"Set By Host\n"


def test_nothing_is_written_fetched_paged_or_asked(fake_git, tmp_path: Path, monkeypatch) -> None:
    """The command line and the environment say so on every call."""
    trace = fake_git('env >"$trace/env"; echo "$@" >"$trace/args"')
    monkeypatch.setenv("GIT_PAGER", "less")
    git(["status"], str(tmp_path))
    seen = set((trace / "env").read_text().splitlines())
    assert {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_NO_LAZY_FETCH=1"} <= seen
    assert {"GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1"} <= seen
    assert not any(line.startswith("GIT_PAGER") for line in seen)
    args = (trace / "args").read_text()
    assert args.startswith(f"--no-pager -C {tmp_path} -c core.quotepath=off -c core.fsmonitor=false status")


def test_git_gets_the_default_pipe_signal(fake_git, tmp_path: Path) -> None:
    """Python ignores SIGPIPE; a child that inherited that would write on into closed pipes."""
    fake_git("kill -PIPE $$; echo survived")
    assert git(["x"], str(tmp_path), timeout=20).code == -13


def test_standard_handles_that_a_host_closed_do_no_harm(project: Repository) -> None:
    """Pipes would take the numbers 0 to 2 and be overwritten in the child."""
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); report = os.dup(1)\n"
        "for handle in (0, 1, 2): os.close(handle)\n"
        "from backstory.sources.git.run import git\n"
        "result = git(['cat-file', '--batch-check'], sys.argv[2], stdin=b'nowhere\\n', timeout=20)\n"
        "os.write(report, b'%d ' % result.code + result.out)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC), str(project)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"0 nowhere missing\n"


def test_a_host_that_ignores_its_children_gets_the_output(project: Repository) -> None:
    """With SIGCHLD ignored the system reaps git before we can ask."""
    code = (
        "import signal, sys; sys.path.insert(0, sys.argv[1])\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from backstory.sources.git.run import git\n"
        "result = git(['rev-parse', '--is-inside-work-tree'], sys.argv[2], timeout=20)\n"
        "print(result.code, result.out)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC), str(project)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"0 b'true\\n'\n"


def test_running_out_of_handles_is_code_127_and_leaks_none(project: Repository) -> None:
    """A long-running server that is short of handles must not make it worse."""
    code = (
        "import os, resource, sys; sys.path.insert(0, sys.argv[1])\n"
        "from backstory.sources.git.run import git\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9)); held = [os.dup(0) for _ in range(3)]\n"
        "codes = [git(['version'], sys.argv[2]).code for _ in range(5)]\n"
        "[os.close(handle) for handle in held]\n"
        "print(codes, git(['version'], sys.argv[2]).code)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC), str(project)]
    done = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    assert done.stdout == b"[127, 127, 127, 127, 127] 0\n"


@pytest.mark.parametrize("module", ["run", "status", "head", "objects", "blobs"])
def test_light_modules_import_only_what_is_cheap(project: Repository, module: str) -> None:
    """The hook path pays for each import, so the light modules are held to a list."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
        f"import backstory.sources.git.{module}\n"
        "from backstory.sources.git.head import branch_name, head_commit, head_signature\n"
        "from backstory.sources.git.status import changed_paths\n"
        "changed_paths(sys.argv[2], timeout=20.0); head_commit(sys.argv[2])\n"
        "head_signature(sys.argv[3], sys.argv[3]); branch_name(sys.argv[3])\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC), str(project), project.git_dir]
    loaded = set(subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())
    others = {name for name in loaded if not name.startswith("backstory")}
    if module == "blobs":
        assert "hashlib" in others  # the control: what is not on the hook path may load more
    else:
        assert others <= LIGHT, others - LIGHT
        assert not others & HEAVY


class TestWithoutPosixSpawn:
    """The way through `subprocess`, as on Windows, keeps the same promises."""

    @pytest.fixture(autouse=True)
    def _no_spawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "posix_spawnp")

    def test_output_code_and_input(self, project: Repository) -> None:
        """The same answers come back."""
        assert git(["cat-file", "--batch-check"], str(project), stdin=b"x\n").out == b"x missing\n"
        assert git(["rev-parse", "--verify", "nowhere"], str(project)).code == 128
        assert git(["hash-object", "--stdin"], str(project), timeout=20).code == 0

    def test_limits(self, fake_git, tmp_path: Path) -> None:
        """Time and size are bounded and nothing is left running."""
        trace = fake_git('echo $$ >"$trace/pid"; exec sleep 60')
        result = git(["x"], str(tmp_path), timeout=0.5)
        assert (result.code, result.timed_out) == (-9, True)
        gc.collect()
        assert not alive(int((trace / "pid").read_text()))
        fake_git("printf 1234567")
        cut = git(["x"], str(tmp_path), limit=5)
        assert (cut.code, cut.out) == (-9, b"12345")

    def test_missing_git(self, tmp_path: Path, monkeypatch) -> None:
        """It is code 127 here too."""
        monkeypatch.setenv("PATH", str(tmp_path))
        assert git(["status"], str(tmp_path)).code == 127


def test_on_windows_git_is_taken_from_path_and_never_from_the_current_folder(tmp_path, monkeypatch) -> None:
    """There the system would look in the current folder first, where a project could plant a git.exe."""
    planted, proper = tmp_path / "planted", tmp_path / "proper"
    for folder in (planted, proper):
        folder.mkdir()
        (folder / "git.exe").touch()
    monkeypatch.chdir(planted)
    monkeypatch.setattr(run.os, "name", "nt")
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(proper)]))
    assert run.command(["x"], ".")[0] == str(proper / "git.exe")
    monkeypatch.setenv("PATH", ".")
    assert not os.path.exists(run.command(["x"], ".")[0])
