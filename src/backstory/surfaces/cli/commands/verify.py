"""`backstory verify`: every line of the log and the journal, read afresh."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.errors import Exit
from backstory.surfaces.cli.console import line_of, paint, patience
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.verifying import Finding, Report


@make("verify", "backstory verify", "backstory verify --json")
def command(run: Run) -> int:
    """Content hashes, the chain, lost lines, a rolled back store; no index is trusted. Exit code 5 when not sound."""
    from backstory.config import load
    from backstory.project.opened import now_micros
    from backstory.project.verifying import verify

    with patience("checking every line"):
        report = verify(load(run.start), now_micros())
    run.answer(report, lambda: _lines(report))
    return Exit.OK if report.sound else Exit.DAMAGED


def _lines(report: Report) -> Iterable[str]:
    verdict = paint("sound", "green") if report.sound else paint("not sound", "red")
    yield f"The log is {verdict}: {report.events} events in {report.files} files, {report.lines} lines."
    for finding in report.problems:
        yield from _finding(finding, "red")
    for finding in report.notes:
        yield from _finding(finding, "yellow")
    if report.folded:
        yield f"  {report.folded} lines stand more than once and are folded"
    if report.not_in_tree:
        yield f"  {report.not_in_tree} events are not in this tree, only in this clone's journal"
    for kind, count in report.unknown_kinds.items():
        yield f"  {count} events of the kind {line_of(kind)!r}, which this version does not know, are kept"


def _finding(finding: Finding, colour: str) -> Iterable[str]:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    what = f" ({finding.id})" if finding.id else ""
    yield f"  {paint(line_of(place), colour)}  {line_of(finding.message)}{what}"
    if finding.fix:
        yield f"    {line_of(finding.fix)}"
