"""What a test run said, whatever wrote it: one shape for JUnit XML and for the logs of test tools."""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from backstory.errors import BackstoryError

FAILED, PASSED, SKIPPED = "failed", "passed", "skipped"
# A larger file is no report of tests that anybody reads.
MAX_BYTES = 64 << 20
MESSAGE_LIMIT, DETAIL_LIMIT = 1_000, 3_500


class Result(msgspec.Struct, frozen=True):
    """One test and how it ended. `file` is as the tool wrote it, "" when it did not.

    `group`: not one test but all whose names begin with `name` and a separator, which passed together.
    """

    name: str
    state: str
    message: str = ""
    detail: str = ""
    file: str = ""
    group: bool = False


class Report(msgspec.Struct, frozen=True):
    """All results of one file, and what it was: `junit` or the name of a log's tool."""

    form: str
    results: tuple[Result, ...]


def read_report(path: str) -> Report:
    """The results in a file; `BackstoryError` when it is too large, cannot be read, or holds no test."""
    from backstory.project.ci import junit, logs

    data = _bytes_of(path)
    start = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return Report("junit", tuple(settled(junit.parse(data, path))))
    form, results = logs.parse(data.decode("utf-8", "replace"))
    if not results:
        known = ", ".join(("JUnit XML", *logs.FORMS))
        raise BackstoryError(f"{path} holds no test result that is known.", hint=f"Known are: {known}.")
    return Report(form, tuple(settled(results)))


def settled(results: Iterable[Result]) -> list[Result]:
    """One result for each test, in order: a failure outweighs a pass of the same name, both outweigh a skip."""
    rank = {SKIPPED: 0, PASSED: 1, FAILED: 2}
    kept: dict[tuple[str, bool], Result] = {}
    for result in results:
        key = (result.name, result.group)
        other = kept.get(key)
        # Of two failures the one with a reason: logs name a test first and explain it below.
        if other is None or (rank[result.state], bool(result.message)) > (rank[other.state], bool(other.message)):
            kept[key] = result
    return list(kept.values())


def _bytes_of(path: str) -> bytes:
    try:
        size = os.stat(path).st_size
        if size > MAX_BYTES:
            raise BackstoryError(
                f"{path} has {size:,} bytes; {MAX_BYTES:,} is the limit.", hint="Split it, or keep the failures only."
            )
        with open(path, "rb") as file:
            return file.read(MAX_BYTES)
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be read ({error.strerror}).", hint="Name a JUnit XML file or the log of a test run."
        ) from error
