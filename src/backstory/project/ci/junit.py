"""JUnit XML as test tools write it, read as what it is: a file from outside.

A document type is refused before anything of it is expanded, so there are no entities of its own, inner or outer;
nothing is fetched. Texts are cut while they are read.
"""

from __future__ import annotations

from xml.parsers import expat

from backstory.errors import BackstoryError
from backstory.project.ci.results import DETAIL_LIMIT, FAILED, MESSAGE_LIMIT, PASSED, SKIPPED, Result

MOST_TESTS = 200_000
_FAILURES = ("failure", "error")


class _Refused(Exception):
    """Why a document is not read."""


def parse(data: bytes, path: str) -> list[Result]:
    """The test cases of a document; `BackstoryError` when it is broken, hostile, or no report of tests."""
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, _Refused, LookupError, ValueError) as error:
        raise BackstoryError(
            f"{path} cannot be read as JUnit XML: {error}", hint="Let the test tool write it again."
        ) from error
    if reader.root not in ("testsuites", "testsuite"):
        raise BackstoryError(
            f"{path} is XML, but no report of tests: it begins with <{reader.root[:60]}>.",
            hint="A JUnit report begins with <testsuites> or <testsuite>.",
        )
    return reader.results


def _refuse(*_: object) -> None:
    raise _Refused("it has a document type")


class _Reader:
    """Gathers the test cases while the parser walks through the document."""

    def __init__(self) -> None:
        self.root = ""
        self.results: list[Result] = []
        self._suites: list[dict[str, str]] = []
        self._case: dict[str, str] | None = None
        self._state, self._message, self._parts, self._inside = PASSED, "", [""], ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.root = self.root or name
        if name == "testsuite":
            self._suites.append(attributes)
        elif name == "testcase":
            if len(self.results) >= MOST_TESTS:
                raise _Refused(f"it holds more than {MOST_TESTS:,} tests")
            self._case, self._state, self._message, self._parts = attributes, PASSED, "", []
        elif self._case is not None and name in (*_FAILURES, "skipped") and not self._inside:
            self._inside = name
            if self._state != FAILED:
                self._state = FAILED if name in _FAILURES else SKIPPED
                self._message = attributes.get("message") or attributes.get("type") or ""

    def text(self, text: str) -> None:
        """Text inside an element; only that of failures is kept."""
        if self._inside in _FAILURES and sum(map(len, self._parts)) < DETAIL_LIMIT:
            self._parts.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if name == self._inside:
            self._inside = ""
        elif name == "testcase" and self._case is not None:
            self.results.append(self._made(self._case))
            self._case = None
        elif name == "testsuite" and self._suites:
            self._suites.pop()

    def _made(self, case: dict[str, str]) -> Result:
        suite = self._suites[-1] if self._suites else {}
        group, name = case.get("classname", "").strip(), case.get("name", "").strip()
        if group == "test":
            # node's own runner says no more than that; the suites around it tell tests apart.
            group = ".".join(one.get("name", "") for one in self._suites) or group
        detail = "".join(self._parts)[:DETAIL_LIMIT].strip()
        message = self._message or next((line for line in detail.splitlines() if line.strip()), "")
        # vitest and others put the file where the class would be.
        file = case.get("file") or suite.get("file") or suite.get("filepath") or (group if "/" in group else "")
        full = name if not group or name.startswith(group) else f"{group}.{name}" if name else group
        return Result(full or suite.get("name", "") or "unnamed", self._state, message[:MESSAGE_LIMIT], detail, file)
