"""One git process: start it, read it, and end it in time.

Promises:

* Read-only: no optional lock is taken, nothing is asked of a person, nothing is fetched.
* The folder decides which repository is read, never the caller's environment (a git hook exports `GIT_DIR`).
* No exception for what git may do: a missing git is code 127, a killed one has a negative code.
* No process outlives the call, and none is left as a zombie.

Light: it lies on the hook path, where importing `subprocess` alone would cost 17 ms.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

# What a person or a host sets on purpose; every other GIT_* variable of the caller is dropped.
_KEPT = (
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
)
_KEPT_STEMS = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
_SET = {
    # git before 2.44 does not know GIT_NO_LAZY_FETCH; with no protocol allowed it cannot fetch either.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NOT_RUN = 127
_NONE = -1  # no handle
_KILL = 9  # the `signal` module would import `enum`
_PIPE_SIGNAL = 13  # Python ignores SIGPIPE, and a child would inherit that
_POLL_IN, _POLL_OUT = 1, 4
_CHUNK = 1 << 16
_ERR_LIMIT = 1 << 16


class GitResult:
    """How one git process ended.

    `code` is the exit code, negative for a signal (a kill at the time or output limit is -9), 127 if git
    could not be started. `out` is at most `limit` bytes; `err` at most 64 KiB.
    """

    __slots__ = ("code", "err", "out", "timed_out")

    def __init__(self, code: int, out: bytes = b"", *, timed_out: bool = False, err: bytes = b"") -> None:
        self.code = code
        self.out = out
        self.timed_out = timed_out
        self.err = err


def environment() -> dict[str, str]:
    """The environment that git is run in: the caller's, less what could lead to another repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_STEMS)
    }
    kept.update(_SET)
    return kept


def command(args: list[str], cwd: str) -> list[str]:
    """The command line for `git` with these arguments, as if started in `cwd`."""
    settings = ["-c", "core.quotepath=off", "-c", "core.fsmonitor=false"]
    return [_program(), "--no-pager", "-C", cwd, *settings, *args]


def git(
    args: list[str],
    cwd: str,
    *,
    timeout: float | None = None,
    limit: int | None = None,
    stdin: bytes | None = None,
) -> GitResult:
    """Run git in `cwd` for at most `timeout` seconds and keep at most `limit` bytes of its output."""
    deadline = None if timeout is None else time.monotonic() + timeout
    if hasattr(os, "posix_spawnp"):
        return _spawned(command(args, cwd), deadline, limit, stdin)
    return _by_subprocess(command(args, cwd), timeout, limit, stdin)


def _program() -> str:
    """`git`, or on Windows its full path, since the search there begins with the current folder."""
    if os.name != "nt":
        return "git"
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    found = (os.path.join(folder, "git.exe") for folder in folders)
    return next((path for path in found if os.path.isfile(path)), "git-not-found.exe")


class _Child:
    """A running git and our ends of its pipes."""

    __slots__ = ("err", "fed", "out", "pid", "unfed")

    def __init__(self, argv: list[str], stdin: bytes) -> None:
        """Start it in a process group of its own; `OSError` or `ValueError` if that fails."""
        (self.out, out), (self.err, err), (feed, self.fed) = _pipes(3 if stdin else 2)
        self.unfed = memoryview(stdin)
        actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_DUP2, feed, 0) if stdin else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, err, 2),
        ]
        try:
            self.pid = os.posix_spawnp(
                argv[0],
                argv,
                environment(),
                file_actions=actions,
                setpgroup=0,
                setsigdef=(_PIPE_SIGNAL,),
            )
        except BaseException:
            _close(self.out, self.err, self.fed)
            raise
        finally:
            _close(out, err, feed)

    def close(self) -> None:
        """Close our ends."""
        _close(self.out, self.err, self.fed)

    def feed(self) -> bool:
        """Write what the pipe takes; False, with the pipe closed, once all is written or git reads no more."""
        try:
            self.unfed = self.unfed[os.write(self.fed, self.unfed[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self.unfed = self.unfed[:0]
        if not self.unfed:
            _close(self.fed)
            self.fed = _NONE
        return self.fed != _NONE

    def wait(self, deadline: float | None) -> int | None:
        """Its exit code, or None if it still runs at the deadline."""
        pause = 0.0001
        while True:
            try:
                pid, status = os.waitpid(self.pid, 0 if deadline is None else os.WNOHANG)
            except ChildProcessError:  # a host that ignores SIGCHLD: the system has reaped it
                return 0
            if pid:
                return os.waitstatus_to_exitcode(status)
            if deadline is None or time.monotonic() >= deadline:
                return None
            time.sleep(pause)
            pause = min(pause * 2, 0.01)

    def kill(self) -> None:
        """End it with all that it started; one stuck in the kernel for over a second is left behind."""
        try:  # contextlib.suppress would be one more import
            os.killpg(self.pid, _KILL)
        except OSError:
            pass
        self.wait(time.monotonic() + 1.0)


def _spawned(argv: list[str], deadline: float | None, limit: int | None, stdin: bytes | None) -> GitResult:
    try:
        child = _Child(argv, stdin or b"")
    except (OSError, ValueError) as exc:  # ValueError: a NUL in an argument
        return GitResult(_NOT_RUN, err=str(exc).encode("utf-8", "backslashreplace"))
    code = None
    out, err = bytearray(), bytearray()
    try:
        finished = _pump(child, out, err, deadline, limit)
        code = child.wait(deadline) if finished else None
    finally:
        if code is None:
            child.kill()
        child.close()
    over = limit is not None and len(out) > limit
    return GitResult(
        -_KILL if code is None else code,
        bytes(out[:limit] if over else out),
        timed_out=code is None and not over,
        err=bytes(err),
    )


def _pump(child: _Child, out: bytearray, err: bytearray, deadline: float | None, limit: int | None) -> bool:
    """Feed and read the child until it closes its output; False at the deadline or past the limit."""
    import select

    poller = select.poll()
    sinks = {child.out: out, child.err: err}
    for end in sinks:
        poller.register(end, _POLL_IN)
    if child.fed != _NONE:
        os.set_blocking(child.fed, False)
        poller.register(child.fed, _POLL_OUT)
    while sinks:
        left = None if deadline is None else (deadline - time.monotonic()) * 1000
        if left is not None and left <= 0:
            return False
        for end, _ in poller.poll(left):
            if end not in sinks:
                if not child.feed():
                    poller.unregister(end)
            elif chunk := os.read(end, _CHUNK):
                sinks[end] += chunk
            else:
                poller.unregister(end)
                del sinks[end]
        del err[_ERR_LIMIT:]
        if limit is not None and len(out) > limit:
            return False
    return True


def _pipes(count: int) -> list[tuple[int, int]]:
    """Three pairs of read and write end, the first `count` real; all above 2, as those may be closed here."""
    ends: list[int] = []
    try:
        for _ in range(count):
            ends += os.pipe()
            ends[-2:] = [_above_two(end) for end in ends[-2:]]
    except OSError:
        _close(*ends)
        raise
    ends += [_NONE] * (6 - len(ends))
    return list(zip(ends[::2], ends[1::2], strict=True))


def _close(*handles: int) -> None:
    for handle in handles:
        if handle != _NONE:
            os.close(handle)


def _above_two(handle: int) -> int:
    if handle > 2:
        return handle
    copy = os.dup(handle)
    try:
        return _above_two(copy)
    finally:
        os.close(handle)


def _by_subprocess(argv: list[str], timeout: float | None, limit: int | None, stdin: bytes | None) -> GitResult:
    """The same where `posix_spawn` is missing (Windows); the limit is applied after the reading."""
    import subprocess

    source = {"input": stdin} if stdin else {}
    try:
        process = subprocess.Popen(
            argv,
            env=environment(),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as exc:
        return GitResult(_NOT_RUN, err=str(exc).encode("utf-8", "backslashreplace"))
    try:
        out, err = process.communicate(timeout=timeout, **source)
    except subprocess.TimeoutExpired:
        return GitResult(-_KILL, timed_out=True)
    finally:
        _end(process)
    if limit is not None and len(out) > limit:
        return GitResult(-_KILL, out[:limit], err=err[:_ERR_LIMIT])
    return GitResult(process.returncode, out, err=err[:_ERR_LIMIT])


def _end(process: Popen[bytes]) -> None:
    """Kill and reap a process that still runs, without waiting for what it started."""
    if process.poll() is None:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
