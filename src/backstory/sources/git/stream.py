"""What git prints, while it prints it: NUL-terminated fields, and in words why it broke off."""

from __future__ import annotations

import queue
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, suppress
from typing import IO

from backstory.errors import BackstoryError
from backstory.sources.git.run import GitResult, command, environment

# Bytes that a pipe may hold and that are read at once, and how many such chunks may wait.
_PIPE, _AHEAD = 1 << 18, 16
_MOST_SAID = 1 << 16


class GitFailed(BackstoryError):
    """git could not answer: it is missing, refuses the folder, or does not know a revision."""


def fields_of(args: list[str], root: str) -> Generator[str]:
    """The NUL-terminated fields of what git prints; `GitFailed` when it breaks off."""
    with closing(_stream(args, root)) as stream:
        yield from _tokens(stream)


def safe_directory_problem(result: GitResult) -> bool:
    """Whether git refused the repository because it belongs to someone else."""
    return result.code == 128 and (b"dubious ownership" in result.err or b"unsafe repository" in result.err)


def failure(result: GitResult, root: str) -> GitFailed:
    """The reason in words and what to do about it."""
    if result.code == 127:
        return GitFailed("git could not be started.", hint="Install git, or put it on PATH.")
    if safe_directory_problem(result):
        return GitFailed(
            f"git refuses to read {root}, since it belongs to another user.",
            hint=f"If you trust it: git config --global --add safe.directory {shlex.quote(root)}",
        )
    lines = result.err.decode("utf-8", "replace").strip().splitlines()
    said = lines[-1].removeprefix("fatal: ") if lines else f"exit code {result.code}"
    return GitFailed(f"git could not read the history of {root}: {said}.")


def _stream(args: list[str], root: str) -> Generator[bytes]:
    """The output of git in chunks; the process ends with the reading, however that ends."""
    with tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                command(args, root),
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
            )
        except OSError as exc:
            raise failure(GitResult(127), root) from exc
        try:
            assert process.stdout is not None
            yield from _read_ahead(process.stdout)
            process.wait()
        finally:
            process.kill()
            process.communicate()
        if process.returncode != 0:
            err.seek(0)
            raise failure(GitResult(process.returncode, err=err.read(_MOST_SAID)), root)


def _read_ahead(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream in chunks, read in a thread of its own: git works on while its last words are worked through.

    A pipe holds 64 KiB: read only when we have time, git stood still for half of a long pass.
    """
    waiting: queue.Queue[bytes] = queue.Queue(_AHEAD)
    given_up = threading.Event()

    def read() -> None:
        chunk = b"."
        while chunk and not given_up.is_set():
            try:
                chunk = stream.read1(_PIPE)  # type: ignore[attr-defined]
            except (OSError, ValueError):
                chunk = b""
            waiting.put(chunk)

    _widen(stream)
    threading.Thread(target=read, name="reads git", daemon=True).start()
    try:
        while chunk := waiting.get():
            yield chunk
    finally:
        given_up.set()
        # One that waits to put its chunk is let go.
        with suppress(queue.Empty):
            waiting.get_nowait()


def _widen(stream: IO[bytes]) -> None:
    """Let the pipe hold more, where the system can."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, _PIPE)


def _tokens(chunks: Iterable[bytes]) -> Iterator[str]:
    """The NUL-terminated fields; bytes that are not UTF-8 become surrogate escapes."""
    tail = b""
    for chunk in chunks:
        whole, found, tail_of_chunk = chunk.rpartition(b"\0")
        if not found:
            tail += chunk
            continue
        yield from (tail + whole).decode("utf-8", "surrogateescape").split("\0")
        tail = tail_of_chunk
