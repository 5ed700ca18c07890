"""Test results become trials: what failed, and what passes again. All of it is proposed; a person lets it count.

Promises: reading the same report twice writes nothing the second time; a test that still fails is not said again; a
test that never failed is not mentioned. Which test an entry is about is its evidence `test NAME`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project import gateway, validation
from backstory.project.authority import hook
from backstory.project.ci.results import FAILED, MESSAGE_LIMIT, PASSED, Report, Result, read_report, settled
from backstory.project.opened import Project
from backstory.project.paths import cite
from backstory.records import secrets
from backstory.records.codec import read_fields
from backstory.records.event import SUMMARY_LIMIT, By
from backstory.records.hostile import one_line

# When more fails at once, it is one cause and not as many trials.
MOST_FAILURES = 25
# Where runners say which run this is: two runs that saw the same count as two witnesses.
_RUNS = ("GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID", "BUILD_ID")
_MARK = "test "
_NAME_LIMIT = 240
_NOTES = 20


class ReadFile(msgspec.Struct, frozen=True):
    """A report that was read: `form` is junit or the tool of the log, and how many tests ended how."""

    file: str
    form: str
    failed: int
    passed: int
    skipped: int


class Ingested(msgspec.Struct, frozen=True):
    """What became of the results: ids of the trials for tests that `failed` and those that are `fixed`.

    `known` fail as they did before. `refused` and `dropped` say something that was rejected or withdrawn. `left` were
    too many at once.
    """

    read: tuple[ReadFile, ...]
    failed: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    known: int = 0
    refused: int = 0
    dropped: int = 0
    left: int = 0
    dry_run: bool = False
    notes: tuple[str, ...] = ()


def ingest(project: Project, paths: Iterable[str], *, run: str = "", dry_run: bool = False) -> Ingested:
    """Read the reports and propose trials. `run` names the run (default: as the runner's environment does)."""
    reports = [(path, read_report(path)) for path in paths]
    results = settled(result for _, report in reports for result in report.results)
    session = run or next((os.environ[name] for name in _RUNS if os.environ.get(name)), "")
    work = _Ingest(project, hook("ci", f"ci-{session}" if session else ""), dry_run)
    work.take(results, ", ".join(os.path.basename(path) for path, _ in reports))
    return work.finished(tuple(_read_file(path, report) for path, report in reports))


def _read_file(path: str, report: Report) -> ReadFile:
    states = [result.state for result in report.results if not result.group]
    failed, passed = states.count(FAILED), states.count(PASSED)
    return ReadFile(os.path.basename(path), report.form, failed, passed, len(states) - failed - passed)


class _Ingest:
    """One ingestion: what is known of each test, and what was written."""

    def __init__(self, project: Project, by: By, dry_run: bool) -> None:
        self.project, self.by, self.dry_run = project, by, dry_run
        self.known = _known(project)
        self.written: dict[str, list[str]] = {FAILED: [], PASSED: []}
        self.counts = dict.fromkeys(("known", "refused", "dropped", "left"), 0)
        self.notes: list[str] = []

    def take(self, results: list[Result], source: str) -> None:
        """Decide about every test. What passes comes first: a fix makes room for what broke since."""
        failed = {_name(result) for result in results if result.state == FAILED}
        for name in self._passing(results, failed):
            self._write(name, PASSED, self._passed_fields(name, source))
        for result in results:
            if result.state == FAILED:
                self._failure(result, source)

    def _failure(self, result: Result, source: str) -> None:
        name = _name(result)
        if self.known.get(name, ("", ""))[0] == FAILED:
            self.counts["known"] += 1
        elif len(self.written[FAILED]) >= MOST_FAILURES:
            self.counts["left"] += 1
        else:
            self._write(name, FAILED, _failed_fields(self.project, result, source))

    def _passing(self, results: list[Result], failed: set[str]) -> Iterator[str]:
        """The tests that failed when they were last heard of, and pass now."""
        passed = {_name(result) for result in results if result.state == PASSED and not result.group}
        groups = tuple(result.name for result in results if result.group and result.state == PASSED)
        for name, (state, _) in sorted(self.known.items()):
            if state != FAILED or name in failed:
                continue
            if name in passed or any(name.startswith(group) and name[len(group) :][:1] in "./: #" for group in groups):
                yield name

    def _passed_fields(self, name: str, source: str) -> dict[str, Any]:
        id_ = self.known[name][1]
        evidence = [f"{_MARK}{name}", f"ci {source}"[:1_000], f"event {id_}"]
        summary = one_line(f"Test {name} passes again", SUMMARY_LIMIT)
        return {"summary": summary, "outcome": "worked", "evidence": evidence}

    def _write(self, name: str, state: str, fields: dict[str, Any]) -> None:
        try:
            if self.dry_run:
                validation.prepare(self.project, "trial", fields)
                self.written[state].append("")
                return
            outcome = gateway.record(self.project, self.by, "trial", fields)
        except BackstoryError as error:
            if error.code != Exit.REFUSED:
                raise
            self.counts["refused"] += 1
            self._note(f"{name}: {error.message}")
            return
        if outcome.status == "dropped":
            self.counts["dropped"] += 1
            self._note(f"{name}: {outcome.notes[0]}")
        else:
            self.written[state].append(outcome.id)

    def _note(self, text: str) -> None:
        if len(self.notes) < _NOTES:
            self.notes.append(one_line(text, 300))

    def finished(self, read: tuple[ReadFile, ...]) -> Ingested:
        """The answer."""
        if self.counts["left"]:
            self.notes.append(f"more than {MOST_FAILURES} tests failed at once; the others were left out")
        failed, fixed = tuple(self.written[FAILED]), tuple(self.written[PASSED])
        return Ingested(read, failed, fixed, **self.counts, dry_run=self.dry_run, notes=tuple(self.notes))


def _known(project: Project) -> dict[str, tuple[str, str]]:
    """How each test that was ever ingested ended when it was last heard of, and the id of the entry that says so.

    Only by what is in this tree: what failed on another branch is no news of this one.
    """
    rows = project.db.execute(
        "SELECT e.id, v.body, max(v.at, coalesce((SELECT max(o.at) FROM events AS o WHERE o.target = e.id"
        " AND o.kind = 'confirm'), '')) AS said FROM entries AS e JOIN events AS v ON v.event = e.entry"
        " WHERE e.kind = 'trial' AND e.by_kind = 'hook' AND e.source = 'log' AND e.in_tree = 1"
        " ORDER BY said, e.id"
    )
    found: dict[str, tuple[str, str]] = {}
    for id_, body, _ in rows:
        fields = read_fields(body.encode("utf-8", "surrogatepass"))
        state = PASSED if fields.get("outcome") == "worked" else FAILED
        for text in fields.get("evidence", ()):
            if str(text).startswith(_MARK):
                found[str(text)[len(_MARK) :]] = (state, str(id_))
    return found


def _name(result: Result) -> str:
    """The name by which a test is known: without what changes from run to run, and as it can be written down."""
    return one_line(secrets.redact(re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", result.name)).text, _NAME_LIMIT)


def _failed_fields(project: Project, result: Result, source: str) -> dict[str, Any]:
    name = _name(result)
    fields: dict[str, Any] = {
        "summary": one_line(f"Test {name} failed", SUMMARY_LIMIT),
        "outcome": "failed",
        "failure_mode": one_line(result.message, MESSAGE_LIMIT),
        "detail": result.detail,
        "evidence": [f"{_MARK}{name}", f"ci {source}"[:1_000]],
    }
    file = _file_of(project, result)
    return fields | ({"files": [file]} if file else {})


def _file_of(project: Project, result: Result) -> str:
    """The file of a test, relative to the project, where it is really there."""
    for guess in _guesses(result):
        try:
            ref = cite(project.root, guess)
        except BackstoryError:
            continue
        if os.path.isfile(os.path.join(project.root, ref.path)):
            return ref.path
    return ""


def _guesses(result: Result) -> Iterator[str]:
    if result.file:
        yield result.file
    words = re.split(r"[.$\[(]", result.name.split("::")[0])
    for end in range(len(words), 0, -1):
        stem = "/".join(words[:end])
        if re.fullmatch(r"[\w/-]+", stem) and end > 1:
            yield f"{stem}.py"
            yield from (f"src/test/{kind}/{stem}.{ending}" for kind, ending in (("java", "java"), ("kotlin", "kt")))
