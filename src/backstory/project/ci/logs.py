"""Logs of test tools: what failed and what passed, line by line.

Each tool has a reader that knows its lines and no others. All of them read the log; the one that found most is
believed. Colours, and the time stamps that runners put before each line, are taken off first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from backstory.project.ci.log_suites import cargo, gradle, jest, maven, vitest
from backstory.project.ci.log_tap import tap
from backstory.project.ci.results import FAILED, MESSAGE_LIMIT, PASSED, SKIPPED, Result

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ?")
_LINE_LIMIT = 2_000

Reader = Callable[[list[str]], Iterator[Result]]


def parse(text: str) -> tuple[str, list[Result]]:
    """(tool, its results); ("", []) when no reader knows a line of it."""
    lines = [_STAMP.sub("", _ANSI.sub("", line[:_LINE_LIMIT])).rstrip() for line in text.splitlines()]
    found = [(form, list(read(lines))) for form, read in FORMS.items()]
    form, results = max(found, key=lambda pair: len(pair[1]))
    return (form, results) if results else ("", [])


_PYTEST_WORDS = {
    "PASSED": PASSED,
    "XPASS": PASSED,
    "FAILED": FAILED,
    "ERROR": FAILED,
    "SKIPPED": SKIPPED,
    "XFAIL": SKIPPED,
}
_PYTEST_SUMMARY = re.compile(r"^(FAILED|ERROR|PASSED|XFAIL|XPASS) (\S+\.py(?:::.+?)?)(?: - (.*))?$")
_PYTEST_VERBOSE = re.compile(
    r"^(?:\[gw\d+\] \[ *\d+%\] )?(\S+\.py::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*$"
    r"|^\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+\.py::.+)$"
)


def pytest(lines: list[str]) -> Iterator[Result]:
    """`FAILED path::test - why` of the summary; `path::test PASSED` of `-v`, with or without workers."""
    for line in lines:
        if found := _PYTEST_SUMMARY.match(line):
            yield _of_pytest(found[2], found[1], found[3] or "")
        elif found := _PYTEST_VERBOSE.match(line):
            yield _of_pytest(found[1] or found[4], found[2] or found[3])


def _of_pytest(name: str, word: str, message: str = "") -> Result:
    return Result(name.strip(), _PYTEST_WORDS[word], message[:MESSAGE_LIMIT], file=name.split("::", 1)[0])


_UNITTEST_HEAD = re.compile(r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)(?: .*)?$")
_UNITTEST_VERBOSE = re.compile(r"^(\w+) \(([\w.]+)\)(?:.*)? \.\.\. (ok|FAIL|ERROR|skipped|expected failure)\b")
_UNITTEST_WORDS = {"ok": PASSED, "FAIL": FAILED, "ERROR": FAILED, "skipped": SKIPPED, "expected failure": SKIPPED}
_EXCEPTION = re.compile(r"^[\w.]+(?:Error|Exception|Warning|Exit|Interrupt|Failure)\b.*$")


def unittest(lines: list[str]) -> Iterator[Result]:
    """`FAIL: test (module.Class.test)` with the traceback below, and the lines of `-v`."""
    name, message = "", ""
    for line in lines:
        if name and (line.startswith(("=====", "Ran ")) or _UNITTEST_HEAD.match(line)):
            yield Result(name, FAILED, message[:MESSAGE_LIMIT])
            name, message = "", ""
        if found := _UNITTEST_HEAD.match(line):
            name = _dotted(found[1], found[2])
        elif name and _EXCEPTION.match(line):
            message = line
        elif found := _UNITTEST_VERBOSE.match(line):
            yield Result(_dotted(found[1], found[2]), _UNITTEST_WORDS[found[3]])
    if name:
        yield Result(name, FAILED, message[:MESSAGE_LIMIT])


def _dotted(test: str, place: str) -> str:
    """Before Python 3.11 the place in brackets leaves the test's own name out."""
    return place if place.endswith(f".{test}") else f"{place}.{test}"


_GO_TEST = re.compile(r"^ *(?:---|===) (FAIL|PASS|SKIP|RUN):? +(\S+)(?: \(.*)?$")
_GO_PACKAGE = re.compile(r"^(FAIL|ok)\s+(\S+)\s+(?:[\d.]+s|\(cached\)|\[.*\]).*$")
_GO_WORDS = {"FAIL": FAILED, "PASS": PASSED, "SKIP": SKIPPED}
_GO_MESSAGE = re.compile(r"^ +(\S+_test\.go:\d+: .*)$")


def go(lines: list[str]) -> Iterator[Result]:
    """`--- FAIL: Test`, whose package comes behind; `ok package` says that all of it passed."""
    states: dict[str, str] = {}
    why: dict[str, str] = {}
    last = ""
    for line in lines:
        if found := _GO_TEST.match(line):
            last = found[2]
            states |= {last: _GO_WORDS[found[1]]} if found[1] in _GO_WORDS else {}
        elif found := _GO_MESSAGE.match(line):
            # With -v before the verdict, without behind it.
            why.setdefault(last, found[1])
        elif found := _GO_PACKAGE.match(line):
            yield from _of_go(f"{found[2]}.", states, why)
            states, why = {}, {}
            if found[1] == "ok":
                yield Result(found[2], PASSED, group=True)
    yield from _of_go("", states, why)


def _of_go(package: str, states: dict[str, str], why: dict[str, str]) -> Iterator[Result]:
    for name, state in states.items():
        message = why.get(name, "")[:MESSAGE_LIMIT] if state == FAILED else ""
        yield Result(f"{package}{name}", state, message)


FORMS: dict[str, Reader] = {
    "pytest": pytest,
    "unittest": unittest,
    "go test": go,
    "cargo test": cargo,
    "jest": jest,
    "vitest": vitest,
    "TAP": tap,
    "Maven": maven,
    "Gradle": gradle,
}
