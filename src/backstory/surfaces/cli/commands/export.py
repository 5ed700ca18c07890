"""`backstory export`: the memory written out."""

from __future__ import annotations

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import clean, say, tell
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
    from backstory.project import exporting, reports

    project = run.open()
    form = form or ("json" if run.as_json else "markdown")
    if form == "parquet" or out is not None:
        _to_file(project, form, out, everything)
        return
    if form == "json":
        run.json(exporting.export(project, everything=everything))
    elif form == "jsonl":
        for line in exporting.lines(project, everything=everything):
            say(line)
    else:
        written = {"markdown": exporting.markdown, "csv": reports.table, "html": reports.page}
        for text in written[form](project, everything=everything):
            say(clean(text))


def _to_file(project: Project, form: str, out: str | None, everything: bool) -> None:
    from backstory.project import exporting, reports

    if out is None:
        raise BackstoryError("Parquet is no text.", hint="Name a file: `--format parquet --out memory.parquet`.")
    if form == "parquet":
        reports.parquet(project, out, everything=everything)
    elif form == "json":
        raise BackstoryError("JSON goes to the terminal.", hint="Redirect it: `backstory export --json > FILE`.")
    else:
        kinds = {"markdown": exporting.markdown, "csv": reports.table, "html": reports.page}
        texts = exporting.lines(project, everything=everything) if form == "jsonl" else kinds[form](
            project, everything=everything)  # fmt: skip
        reports.write(out, texts)
    tell(f"Written: {out}")
