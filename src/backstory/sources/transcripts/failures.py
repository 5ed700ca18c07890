"""Which line of a failure's output says what went wrong: the most telling one, not the first."""

from __future__ import annotations

import re

MOST_LINES = 2_000
LONGEST = 300

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")
# White space, and the letters by which programs draw boxes.
_FRAME = " \t\r\n|" + "".join(map(chr, range(0x2500, 0x25A0)))
# What a line looks like that tells, the most telling first.
_TELLING = tuple(
    (weight, re.compile(pattern))
    for weight, pattern in (
        (10, r"^\s*(?:E\s+)?[A-Za-z_][\w.]*(?:Error|Exception|Failure|Panic|Warning)\b: ?\S"),
        (10, r"^error(?:\[\w+\])?: \S"),
        (9, r"\berror TS\d+: "),
        (9, r"^\S+:\d+(?::\d+)?:? (?:fatal )?error: "),
        (9, r"^thread '.*' panicked at|^panic: "),
        (9, r"^\s*\w+_test\.go:\d+: \S"),
        (8.5, r"^\S+\.\w{1,4}:\d+:\d+: \S"),
        (8, r"^(?:FAILED|FAIL) \S+(?:::| - |\s*$)"),
        (7, r"^\s*--- FAIL: "),
        (8, r"^\s*AssertionError|^E\s+assert\b|^\s*(?:Expected|expected)\b.*\b(?:received|got|to)\b"),
        (8, r"^(?:fatal|FATAL|ERROR|Error|error)\b[: ]"),
        (7, r"^\S*: (?:command not found|No such file or directory|Permission denied|not found)"),
        (7, r"command not found|No such file or directory|Permission denied|Cannot find module|cannot find"),
        (6, r"^(?:npm|yarn|pnpm) ERR(?:!|OR)\b.*\S"),
        (
            6,
            r"(?i)\b(?:unresolved|un(?:defined|expected)|invalid|missing|cannot|could not|(?:fail|un)\w+ to)\b",
        ),
        (5, r"(?i)\berror\b|\bexception\b|\bfailed\b|\bfailure\b|\bfatal\b"),
        (3, r"(?i)\bwarn(?:ing)?\b|\bdenied\b|\brefused\b|\btimed? ?out\b"),
    )
)
# One look that every line passes of which one of these has a say: most lines of an output have none.
_HINT = re.compile(
    r"(?i)err|fail|exce|panic|warn|expect|assert|fatal|not found|no such|denied|refused|tim|cannot|could not|unresolved"
    r"|undefined|invalid|missing|un\w+ to|_test\.go:|:\d+:\d+: "
)
# What a program logs while it works, and what a runner says of a whole package.
_LOGGED = re.compile(
    r"^\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+\S* (?:\[?(?:WARN|INFO|DEBUG|ERROR|TRACE)|\d)"
    r"|^(?:FAIL|ok)\s+\S+\s+(?:[\d.]+s|\[)"
    r"|^(?:time=|\*\* WARNING: |npm WARN|\(node:\d+\) )"
)
# Lines that count or close, and tell nothing by themselves.
_EMPTY = re.compile(
    r"(?i)^\W*(?:\d+ (?:errors?|failed|failures?|passed|warnings?|problems?)\b[\w ,.]*|exit (?:code|status):? \d+|"
    r"error|errors|failed|fail|npm err! (?:code|errno|a complete log|syscall).*|make(?:\[\d+\])?: \*\*\*.*|"
    r"found \d+ errors?.*|process exited.*|command failed.*|traceback \(most recent call last\):?|=+ .* =+|"
    r"error: could not compile.*|error: aborting due to.*|elifecycle.*|short test summary info)\W*$"
)


def error_line(text: str) -> str:
    """The most telling line of an output, plain, at most 300 characters; "" when none tells anything."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], *lines[-MOST_LINES // 2 :]]
    best, most = "", 0.0
    for line in lines:
        if not _HINT.search(line, 0, 1_000):
            continue
        plain = _plain(line)
        if not plain or _EMPTY.match(plain):
            continue
        head = plain[:1_000]
        weight: float = next((weight for weight, pattern in _TELLING if pattern.search(head)), 0)
        if weight and _LOGGED.match(plain):
            weight = 2.5
        if weight > most:
            best, most = plain, weight
    if not best:
        said = [_plain(line) for line in lines[-50:]]
        best = next((line for line in reversed(said) if line and not _EMPTY.match(line)), "")
    return " ".join(best.split())[:LONGEST]


def _plain(line: str) -> str:
    """A line without colours and the frame that is drawn around it; "" for one that only draws."""
    text = _ANSI.sub("", line).strip()
    if text.isascii():
        return text
    text = text.strip(_FRAME)
    return text if any(map(str.isalnum, text)) else ""


# What runners print when they have counted: `3 failed, 2 passed in 0.1s`, `Tests: 1 failed`, `test result: ok.`
_COUNTED = re.compile(
    r"^(?:=+ )?(?P<pytest>\d+ (?:failed|passed|errors?)\b[\w ,]* in [\d.]+ ?s\b)"
    r"|^\s*Tests?:?\s+(?P<jest>\d+ (?:failed|passed)\b.*)$"
    r"|^test result: (?P<cargo>ok|FAILED)\."
    r"|^(?P<unittest>OK(?: \(.*\))?|FAILED \((?:failures|errors)=.*\))\s*$"
    r"|^\s*(?P<mocha>\d+ (?:failing|passing)\b)"
    r"|^(?P<tsc>Found \d+ errors?\b|\S+\(\d+,\d+\): error TS\d+: |\S+:\d+:\d+ - error TS\d+: )"
    r"|^(?P<checker>Success: no issues found|Found \d+ errors? in |All checks passed!)"
    r"|^(?P<go>(?:FAIL|ok  )\t\S+)",
    re.MULTILINE,
)
_BAD_COUNT = re.compile(r"(?i)\b[1-9]\d* (?:failed|failing|errors?)\b|FAIL|: error TS")


def verdict(text: str) -> str:
    """ "failed" or "ok" where a runner of tests or checks counted what it found, "" where nothing did.

    For outputs whose exit code is that of a filter (`pytest | tail`). One count that is bad makes all of it failed.
    """
    found = ""
    for counted in _COUNTED.finditer(_ANSI.sub("", text[-20_000:])):
        if _BAD_COUNT.search(counted[0]):
            return "failed"
        found = "ok"
    return found
