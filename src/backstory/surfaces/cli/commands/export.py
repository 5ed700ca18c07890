"""`backstory export`: the memory written out."""

from __future__ import annotations

from collections.abc import Iterator

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import clean, line_of, say, tell
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project


@make("export", "backstory export > memory.md", "backstory export --all --format jsonl > memory.jsonl")
@click.option("--format", "form", type=click.Choice(["json", "jsonl", "markdown", "csv", "html", "parquet"]),
              help="json, jsonl (the log's own lines), markdown (default), csv, html, parquet (to --out).")  # fmt: skip
@click.option("--out", metavar="FILE", help="Write there instead of to the terminal.")
@click.option("--all", "everything", is_flag=True, help="Whatever the standing, tagged, with the operations.")
def command(run: Run, form: str | None, out: str | None, everything: bool) -> None:
    """Only what counts now in this tree, unless `--all`. `backstory import` reads json and jsonl back in."""
    from backstory.project import reports

    project = run.open()
    form = form or ("json" if run.as_json else "markdown")
    if form == "parquet":
        if out is None:
            raise BackstoryError("Parquet is no text.", hint="Name a file: `--format parquet --out memory.parquet`.")
        reports.parquet(project, out, everything=everything)
    elif out is not None:
        reports.write(out, _texts(run, project, form, everything))
    else:
        for text in _texts(run, project, form, everything):
            say(text if form == "json" or isinstance(text, bytes) else clean(text))
    if out is not None:
        tell(f"Written: {line_of(out)}")


def _texts(run: Run, project: Project, form: str, everything: bool) -> Iterator[str | bytes]:
    from backstory.project import exporting, reports

    if form == "json":
        yield run.json_line(exporting.export(project, everything=everything))
    elif form == "jsonl":
        yield from exporting.lines(project, everything=everything)
    else:
        written = {"markdown": exporting.markdown, "csv": reports.table, "html": reports.page}
        yield from written[form](project, everything=everything)
