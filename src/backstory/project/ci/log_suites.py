"""Readers for the logs of tools that show their tests in groups: cargo, jest, vitest, Maven, Gradle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.ci.results import FAILED, MESSAGE_LIMIT, PASSED, SKIPPED, Result

_CARGO = re.compile(r"^test (\S+(?: - .+?)?) \.\.\. (ok|FAILED|ignored)\b")
_CARGO_WORDS = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}
_CARGO_PANIC = re.compile(r"^thread '(\S+)'.* panicked at (?:'(.*)', )?(\S+?):\d+:\d+:?$")


def cargo(lines: list[str]) -> Iterator[Result]:
    """`test module::name ... FAILED`; the panic below it says why and where."""
    why: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(lines):
        if found := _CARGO_PANIC.match(line):
            below = lines[number + 1] if number + 1 < len(lines) else ""
            why[found[1]] = ((found[2] or below)[:MESSAGE_LIMIT], found[3])
    for line in lines:
        if found := _CARGO.match(line):
            message, file = why.get(found[1], ("", "")) if found[2] == "FAILED" else ("", "")
            yield Result(found[1], _CARGO_WORDS[found[2]], message, file=file)


_JEST_FILE = re.compile(r"^ ?(PASS|FAIL) +(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$")
_JEST_MARK = re.compile(r"^( +)([\u2713\u2714\u2715\u2717\u00d7\u25cb]) (?:skipped )?(.+?)(?: \([\d.]+ m?s\))?$")
_JEST_SUITE = re.compile(r"^( {2,})(\S.*)$")
_JEST_FAILED = re.compile(r"^ +\u25cf (\S.*)$")
# Check marks, crosses and the circle of what was skipped, in the spellings of both tools.
_MARKS = {"\u2713": PASSED, "\u2714": PASSED, "\u2715": FAILED, "\u2717": FAILED, "\u00d7": FAILED, "\u25cb": SKIPPED}
_JOINT = " \u203a "


def jest(lines: list[str]) -> Iterator[Result]:
    """`PASS file`, `FAIL file` with a bullet and the names of suite and test below, the marks of `--verbose`."""
    file, suites = "", [(0, "")]
    for number, line in enumerate(lines):
        if found := _JEST_FILE.match(line):
            file, suites = found[2], []
            if found[1] == "PASS":
                yield Result(file, PASSED, file=file, group=True)
        elif not file:
            continue
        elif found := _JEST_MARK.match(line):
            suites = [one for one in suites if one[0] < len(found[1])]
            name = _JOINT.join([*(title for _, title in suites), found[3]])
            yield Result(f"{file}{_JOINT}{name}", _MARKS[found[2]], file=file)
        elif (found := _JEST_FAILED.match(line)) and "Console" not in found[1]:
            yield Result(f"{file}{_JOINT}{found[1]}", FAILED, _next_text(lines, number), file=file)
        elif found := _JEST_SUITE.match(line):
            suites = [*(one for one in suites if one[0] < len(found[1])), (len(found[1]), found[2])]


_VITEST_FAILED = re.compile(r"^ *(?:FAIL|\u00d7) +(\S+\.[cm]?[jt]sx?) > (.+?)(?: \d+ ?m?s)?$")
_VITEST_PASSED = re.compile(r"^ *\u2713 (\S+\.[cm]?[jt]sx?) > (.+?)(?: \d+ ?m?s)?$")
_VITEST_FILE = re.compile(r"^ *\u2713 (\S+\.[cm]?[jt]sx?) +\(\d+ tests?[^)]*\)(?: .*)?$")


def vitest(lines: list[str]) -> Iterator[Result]:
    """`FAIL file > suite > test`, a cross or check mark with the same, and a check mark with `file (3 tests)`."""
    for number, line in enumerate(lines):
        if found := _VITEST_FAILED.match(line):
            message = _next_text(lines, number) if line.lstrip().startswith("FAIL") else ""
            yield Result(f"{found[1]} > {found[2]}", FAILED, message, file=found[1])
        elif found := _VITEST_PASSED.match(line):
            yield Result(f"{found[1]} > {found[2]}", PASSED, file=found[1])
        elif found := _VITEST_FILE.match(line):
            yield Result(found[1], PASSED, file=found[1], group=True)


_MAVEN_TEST = re.compile(
    r"^(?:\[ERROR\] +)?(?:([\w.$]+)\.([\w$]+(?:\[.*?\]|\(.*?\))?) +--|([\w$]+(?:\[.*?\])?)\(([\w.$]+)\))"
    r" +Time elapsed: .*<<< (?:FAILURE|ERROR)!"
)
_MAVEN_CLASS = re.compile(
    r"^(?:\[\w+\] +)?Tests run: \d+, Failures: (\d+), Errors: (\d+), Skipped: \d+.*(?: in |- in )([\w.$]+)$"
)


def maven(lines: list[str]) -> Iterator[Result]:
    """`Class.test -- Time elapsed ... <<< FAILURE!` in its two spellings; a class without failures passed whole."""
    for number, line in enumerate(lines):
        if found := _MAVEN_TEST.match(line):
            owner, test = (found[1], found[2]) if found[1] else (found[4], found[3])
            yield Result(f"{owner}.{test}", FAILED, _next_text(lines, number))
        elif (found := _MAVEN_CLASS.match(line)) and found[1] == found[2] == "0":
            yield Result(found[3], PASSED, group=True)


_GRADLE = re.compile(r"^([\w.$]+(?: > [^>]+?)*) > (.+?) (PASSED|FAILED|SKIPPED)$")
_GRADLE_WORDS = {"PASSED": PASSED, "FAILED": FAILED, "SKIPPED": SKIPPED}


def gradle(lines: list[str]) -> Iterator[Result]:
    """`Class > test() FAILED`, the exception on the line below."""
    for number, line in enumerate(lines):
        if found := _GRADLE.match(line):
            message = _next_text(lines, number) if found[3] == "FAILED" else ""
            yield Result(f"{found[1]}.{found[2]}", _GRADLE_WORDS[found[3]], message)


def _next_text(lines: list[str], number: int) -> str:
    """The first line with text below a heading."""
    below = (line.strip() for line in lines[number + 1 : number + 6])
    return next((line for line in below if line), "")[:MESSAGE_LIMIT]
