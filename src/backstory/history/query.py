"""One query of the history: bounded in time, memory, rows and size, and never able to change or reach anything.

Promise: `run` returns a `Result` or raises `BackstoryError`, at the latest a second after the limit of time (and the
start of a process, 0.2 seconds on a quiet machine), whatever the query is.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any, NamedTuple

from backstory.errors import BackstoryError, Exit
from backstory.history import guard
from backstory.history.plain_values import to_line
from backstory.history.sandbox import MEMORY_OVER, TIME_OVER
from backstory.records.hostile import one_line

# What a process may take to start on a machine that does much else, before it watches itself.
_START_SECONDS = 15.0
_ALARM = int(getattr(signal, "SIGALRM", 14))
_MIN_SECONDS, _MAX_SECONDS = 0.01, 3600.0
_MAX_ROWS = 1_000_000
_MIN_MEMORY_MB, _MAX_MEMORY_MB = 32, 65_536
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from backstory.history.sandbox import main; main()"


class Result(NamedTuple):
    """What a query answered, in plain values (see `plain_values`): names may repeat, `more` says rows were left out."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    more: bool
    seconds: float


def run(folder: str, sql: str, *, seconds: float = 10.0, rows: int = 1000, memory_mb: int = 256) -> Result:
    """Ask the history in `folder`. `BackstoryError` for what is refused, is wrong, or goes over a limit but rows.

    `seconds` counts the query alone; `memory_mb` is what DuckDB may hold (the process may take 256 MB more).
    """
    _check_limits(seconds, rows, memory_mb)
    sql = guard.cleaned(sql)
    request = {"folder": folder, "sql": sql, "seconds": seconds, "rows": rows, "memory_mb": memory_mb}
    code, out, complaint = _in_process(request, seconds + _START_SECONDS)
    if code == MEMORY_OVER:
        raise _memory_over(memory_mb)
    answer = _read(out) if code == 0 else None
    if answer is None:
        raise _ended(code, seconds, complaint)
    return answer


def _check_limits(seconds: float, rows: int, memory_mb: int) -> None:
    for flag, value, least, most in (
        ("--seconds", seconds, _MIN_SECONDS, _MAX_SECONDS),
        ("--rows", rows, 0, _MAX_ROWS),
        ("--memory-mb", memory_mb, _MIN_MEMORY_MB, _MAX_MEMORY_MB),
    ):
        if not least <= value <= most:  # false for what is no number, too
            raise BackstoryError(f"{flag} is {value}.", hint=f"Give a number from {least:g} to {most:g}.")


def _in_process(request: dict[str, Any], seconds: float) -> tuple[int | None, bytes, bytes]:
    """The exit code (None for a process that had to be killed) and what was written to stdout and stderr.

    Isolated, so that no file of the working folder is imported; our own import path goes along instead.
    """
    path = json.dumps([os.path.abspath(folder) for folder in sys.path])
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _PROGRAM, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            out, complaint = process.communicate(to_line(request), timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, b"", b""
        finally:
            process.kill()  # ended or not: no query outlives its caller
    return process.returncode, out, complaint


def _read(out: bytes) -> Result | None:
    """The result that `sandbox` wrote; its `BackstoryError` where it wrote that; None for anything else."""
    try:
        *lines, last = map(json.loads, out.splitlines())
        if "error" in last:
            raise BackstoryError(last["error"], hint=last["hint"], code=Exit.USAGE)
        head, *rows = lines
        return Result(
            tuple(head["columns"]), tuple(head["types"]), list(map(tuple, rows)), last["more"], last["seconds"]
        )
    except (ValueError, TypeError, KeyError):
        return None


def _memory_over(memory_mb: int) -> BackstoryError:
    return BackstoryError(
        f"The query needs more than {memory_mb} MB of memory.",
        hint="Ask for less with WHERE or fewer columns, or raise the limit with `--memory-mb`.",
    )


def _ended(code: int | None, seconds: float, complaint: bytes) -> BackstoryError:
    if code in (None, TIME_OVER, -_ALARM):
        return BackstoryError(
            f"The query ran for {seconds:g} seconds and was ended.",
            hint="Ask for less with WHERE or LIMIT, or raise the limit with `--seconds`.",
        )
    last = one_line((complaint.decode(errors="replace").splitlines() or [""])[-1], 300)
    return BackstoryError(
        f"DuckDB ended without an answer (exit code {code}).{' ' * bool(last)}{last}",
        hint="Ask in another way, with less at a time.",
    )
