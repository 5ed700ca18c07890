"""Runs a command as a client would, in bounded time, and leaves no process behind."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO, Any, NamedTuple

_MOST_OUT = 1 << 20
_LEAVE_SECONDS = 5.0
_JOIN_SECONDS = 2.0


class Ran(NamedTuple):
    """How it went: exit code, what it said, and the seconds it took. `late`: it was ended at the limit."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    late: bool = False


def run(words: Sequence[str], stdin: bytes, cwd: str, limit_seconds: float) -> Ran:
    """Run `words` with `stdin`; a program that cannot be started has code 127."""
    began = time.monotonic()
    try:
        process = _started(words, cwd)
    except OSError as error:
        return Ran(127, b"", str(error).encode(), 0.0)
    late = False
    try:
        out, err = process.communicate(stdin, timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        late, out, err = True, b"", b""
    finally:
        _kill(process)
        _close(process)
    return Ran(process.returncode, out[:_MOST_OUT], err[:_MOST_OUT], time.monotonic() - began, late)


class Answered(NamedTuple):
    """What an MCP server answered: results by request, and why it failed ("" when it did not)."""

    results: dict[int, dict[str, Any]]
    why: str
    seconds: float


def ask_server(words: Sequence[str], requests: Sequence[dict[str, Any]], cwd: str, limit_seconds: float) -> Answered:
    """Send JSON-RPC messages over stdio, one after the other's answer, and close stdin as a client does that leaves."""
    began = time.monotonic()
    try:
        process = _started(words, cwd)
    except OSError as error:
        return Answered({}, f"cannot be started ({error})", 0.0)
    lines: queue.Queue[bytes] = queue.Queue()
    errors: list[bytes] = []
    readers = [
        threading.Thread(target=_read_lines, args=(process.stdout, lines.put), daemon=True),
        threading.Thread(target=_read_lines, args=(process.stderr, errors.append), daemon=True),
    ]
    for reader in readers:
        reader.start()
    results: dict[int, dict[str, Any]] = {}
    try:
        why = _converse(process, lines, requests, results, began + limit_seconds)
        seconds = time.monotonic() - began
        if not why:
            why = _left(process)
    finally:
        _kill(process)
        for reader in readers:
            reader.join(_JOIN_SECONDS)
        # A stream that somebody still reads from cannot be closed.
        if not any(reader.is_alive() for reader in readers):
            _close(process)
    said = b"".join(errors[-3:]).decode("utf-8", "replace").strip()
    return Answered(results, f"{why}: {' '.join(said.split())[-300:]}" if why and said else why, seconds)


def _converse(
    process: subprocess.Popen[bytes],
    lines: queue.Queue[bytes],
    requests: Sequence[dict[str, Any]],
    results: dict[int, dict[str, Any]],
    deadline: float,
) -> str:
    assert process.stdin is not None
    for request in requests:
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            # It was gone before it read the question, or while it did: the same to who waits.
            return f"ended without an answer to {request['method']}"
        while "id" in request and request["id"] not in results:
            try:
                line = lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                return f"did not answer {request['method']} in time"
            if not line:
                return f"ended without an answer to {request['method']}"
            _note(line, results)
    return ""


def _note(line: bytes, results: dict[int, dict[str, Any]]) -> None:
    try:
        message = json.loads(line)
    except ValueError:
        return
    if isinstance(message, dict) and isinstance(message.get("id"), int):
        # A refusal is an answer, of which nothing can be used.
        result = message.get("result")
        results[message["id"]] = result if isinstance(result, dict) else {}


def _left(process: subprocess.Popen[bytes]) -> str:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        return "stayed when its client left"
    return ""


def _read_lines(stream: IO[bytes] | None, put: Any) -> None:
    if stream is not None:
        for line in stream:
            put(line)
    put(b"")


def _started(words: Sequence[str], cwd: str) -> subprocess.Popen[bytes]:
    own: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        own = {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
    pipe = subprocess.PIPE
    return subprocess.Popen(list(words), cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, **own)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started, and take it off the system's list."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:
        pass
    process.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                pass
