"""`backstory ci ingest`: the results of a test run become trials."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, patience, wrap
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.ci.ingest import Ingested


@make("ci ingest", "backstory ci ingest junit.xml --dry-run", "backstory ci ingest reports/*.xml pytest.log")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("--run", "run_id", metavar="ID", default="", help="Which run this was (default: as the CI says).")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def command(run: Run, files: tuple[str, ...], run_id: str, dry_run: bool) -> None:
    """A failed test becomes a failed trial, one that failed before and passes now a trial that worked. Both wait for
    a person. A test that still fails is not said again.

    FILE is JUnit XML, or the log of pytest, unittest, go test, cargo test, jest, vitest, TAP, Maven or Gradle.
    """
    from backstory.project.ci.ingest import ingest

    project = run.open()
    with patience("reading the results"):
        found = ingest(project, files, run=run_id, dry_run=dry_run)
    run.answer(found, lambda: _lines(found))


def _lines(found: Ingested) -> Iterable[str]:
    for read in found.read:
        counts = f"{read.failed} failed, {read.passed} passed, {read.skipped} skipped"
        yield f"{line_of(read.file)} ({read.form}): {counts}"
    would = "would be " if found.dry_run else ""
    rows = (
        (len(found.failed), f"failed; {would}proposed as trials"),
        (len(found.fixed), f"passed that failed before; {would}proposed as trials that worked"),
        (found.known, "fail as they did before"),
        (found.refused, "refused: their value was rejected, or they break a rule"),
        (found.dropped, "not taken: the same was retired or superseded here"),
        (found.left, "left out: too many at once"),
    )
    told = [f"  {count:>6}  {words}" for count, words in rows if count]
    yield from told or ["  nothing new"]
    yield from (f"  {wrap(line_of(note), 4, 2)}" for note in found.notes)
    if (found.failed or found.fixed) and not found.dry_run:
        yield "`backstory review` walks through them."
