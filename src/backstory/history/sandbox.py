"""The process that runs one query, and nothing else: `query` starts it, and may kill it.

A process, since DuckDB 2.0 cannot be stopped inside one: an interrupt waits for the function that runs to end, and what
functions build is not counted. With a limit of 2 seconds and 256 MB, `repeat('x', 1000000000)` was interrupted after
9.4 seconds with 2 GB taken; `string_split`, `replace`, `range` of 10^8 and `damerau_levenshtein` went on for more than
20 seconds. A crash of the parser takes this process with it and no other.

It reads one JSON object from stdin and writes lines of JSON to stdout: columns and types, then the rows, then how it
ended. When time or memory is over it ends itself with an exit code. Where it is too busy for that the kernel ends it,
and where the kernel does not, `query` does.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from backstory.errors import BackstoryError
from backstory.history import guard
from backstory.history.plain_values import Plain, plain, to_line
from backstory.records.hostile import one_line

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TIME_OVER, MEMORY_OVER = 81, 82
# All rows together, as text.
MAX_ANSWER_BYTES = 32 * 1024 * 1024
# Python and DuckDB take 76 MB before the query; the rest is for values on their way out.
_OWN_MB = 256
# What the kernel lets it map beyond what it has at the start: one call may take gigabytes between two looks.
_MAPPED_MB = 1024
_LOOK_SECONDS = 0.02
_GRACE_SECONDS = 0.5
_ERROR_CHARACTERS = 400
_KIND = re.compile(r"^[A-Za-z ]+ Error: ")
# Settings are locked, and extensions off.
_NO_ADVICE = re.compile(r"\s+(?:Use|Please|To) [^.!?]*(?:\bSET |INSTALL |LOAD )[^\n]*")
_PLACE = re.compile(r"\n+LINE (\d+): .*", re.DOTALL)


def main() -> None:
    """Run the query that stdin describes, write the answer or the error to stdout."""
    import duckdb

    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else that may be written gets between the lines
    try:
        db = guard.opened(request["folder"], request["memory_mb"])
        _limit(request["seconds"], request["memory_mb"])
        for line in answer(db, request["sql"], request["rows"]):
            out.write(line + b"\n")
    except BackstoryError as error:
        out.write(to_line({"error": error.message, "hint": error.hint}))
    except (duckdb.OutOfMemoryException, MemoryError):
        os._exit(MEMORY_OVER)
    out.close()
    _unlimit()


def answer(db: DuckDBPyConnection, sql: str, rows: int) -> Iterator[bytes]:
    """Lines of JSON: columns and types, a list a row, and how it ended. `BackstoryError` for what is refused."""
    import duckdb

    begun = time.perf_counter()
    try:
        text = guard.checked(db, sql)
        described = db.execute(f"DESCRIBE {text}").fetchall()
        shapes = [plain(db.type(kind)) for _, kind, *_ in described]
        yield to_line({"columns": [row[0] for row in described], "types": [row[1] for row in described]})
        _execute(db, text, shapes, rows + 1)
        size = count = 0
        while (row := db.fetchone()) is not None and count < rows:
            count += 1
            line = to_line([shape.value(value) for shape, value in zip(shapes, row, strict=True)])
            size += len(line)
            if size > MAX_ANSWER_BYTES:
                raise _too_large()
            yield line
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise guard.refused(explained(str(error), sql)) from error
    yield to_line({"more": row is not None, "seconds": round(time.perf_counter() - begun, 3)})


def _execute(db: DuckDBPyConnection, text: str, shapes: list[Plain], limit: int) -> None:
    """Run it with values that survive the way out. The limit outside spares sorting what is not shown."""
    columns = ", ".join(
        f"#{place}" if shape.sql is None else f"CAST(#{place} AS {shape.sql})" for place, shape in enumerate(shapes, 1)
    )
    (statement,) = db.extract_statements(f"SELECT {columns} FROM ({text}\n) AS query LIMIT {limit}")
    db.execute(statement)


def _too_large() -> BackstoryError:
    return guard.refused(
        f"The answer is larger than {MAX_ANSWER_BYTES >> 20} MB.",
        "Select fewer columns or rows, or cut long text with left(column, 200).",
    )


def explained(message: str, sql: str) -> str:
    """DuckDB's error as one line: its cause and suggestion, and the line where the query has several."""
    if "Max expression depth" in message:
        return "The query is nested too deeply."
    place = _PLACE.search(message)
    words = one_line(_NO_ADVICE.sub("", _KIND.sub("", _PLACE.sub("", message))), _ERROR_CHARACTERS)
    where = f" (line {place[1]})" if place and "\n" in sql.strip() else ""
    return f"{words[:1].upper()}{words[1:]}{where}" if words else "DuckDB cannot run the query."


# --- limits ----------------------------------------------------------------------------------------------------


def _limit(seconds: float, memory_mb: int) -> None:
    """End this process when the time or memory is over, whatever it is doing then, and let it write no file."""
    begun = time.monotonic()
    most = (memory_mb + _OWN_MB) * 1024 * 1024

    def watch() -> None:
        while time.monotonic() - begun < seconds:
            if _resident_bytes() > most:
                os._exit(MEMORY_OVER)
            time.sleep(_LOOK_SECONDS)
        os._exit(TIME_OVER)

    threading.Thread(target=watch, daemon=True).start()
    if sys.platform == "win32":
        return
    import resource
    import signal

    # Where a call into DuckDB keeps the interpreter's lock the thread above waits; the alarm does not.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE_SECONDS)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    if mapped := _pages(0):
        _lower(resource.RLIMIT_AS, mapped + most + _MAPPED_MB * 1024 * 1024)


def _lower(kind: int, value: int) -> None:
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY or value < hard:
        resource.setrlimit(kind, (value, hard))


def _unlimit() -> None:
    """Let the interpreter end in its own way and time."""
    if sys.platform != "win32":
        import resource
        import signal

        signal.setitimer(signal.ITIMER_REAL, 0)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def _pages(field: int) -> int:
    """Bytes that are mapped (0) or resident (1), where the kernel shows it as Linux does; else 0."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _resident_bytes() -> int:
    resident = _pages(1)
    if resident or sys.platform == "win32":
        return resident
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
