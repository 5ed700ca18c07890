"""`backstory export`: the memory written out."""

from __future__ import annotations

from collections.abc import Iterator

import click

from backstory.errors import BackstoryError, Exit
from backstory.surfaces.cli.console import clean, line_of, say, tell
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project

FORMS = ("json", "jsonl", "markdown", "pages", "csv", "html", "parquet", "block")


@make("export", "backstory export > memory.md", "backstory export --all --format jsonl > memory.jsonl",
      "backstory export --format pages --out memory/", "backstory export --into AGENTS.md")  # fmt: skip
@click.option("--format", "form", type=click.Choice(FORMS),
              help="json, jsonl (the log's own lines), markdown (default), pages (Markdown, to the folder --out), csv,"
              " html, parquet (to --out), block (for AGENTS.md).")  # fmt: skip
@click.option("--out", metavar="PATH", help="Write there instead of to the terminal.")
@click.option("--into", metavar="FILE", help="Put the block into this file of the project, or renew it there.")
@click.option("--all", "everything", is_flag=True, help="Whatever the standing, tagged, with the operations.")
def command(run: Run, form: str | None, out: str | None, into: str | None, everything: bool) -> None:
    """Only what counts now in this tree, unless `--all`. `backstory import` reads json and jsonl back in.

    The block is for agents that neither a hook nor MCP reaches: a few lines, never of other projects, between two
    marks. What is outside of them stays. It is written only on this call; run it again to renew it.
    """
    from backstory.project import reports

    project = run.open()
    form = form or ("block" if into else "json" if run.as_json else "markdown")
    _check(form, out, into, everything)
    if into is not None:
        from backstory.project.exports import block

        done = block.into(project, into, run.cwd)
        tell(f"Written: {line_of(into)}" if done else f"{line_of(into)} holds this already")
        return
    if form == "pages" and out is not None:
        _pages(project, out, everything)
    elif form == "parquet" and out is not None:
        reports.parquet(project, out, everything=everything)
    elif out is not None:
        reports.write(out, _texts(run, project, form, everything))
    else:
        for text in _texts(run, project, form, everything):
            say(text if form == "json" or isinstance(text, bytes) else clean(text))
    if out is not None and form != "pages":
        tell(f"Written: {line_of(out)}")


def _check(form: str, out: str | None, into: str | None, everything: bool) -> None:
    """Refuse options that do not go together."""
    if form == "parquet" and out is None:
        raise BackstoryError("Parquet is no text.", hint="Name a file: `--format parquet --out memory.parquet`.")
    if form == "pages" and out is None:
        raise BackstoryError("Pages are many files.", hint="Name a folder: `--format pages --out memory`.")
    if into is not None and (form != "block" or out is not None):
        raise BackstoryError("`--into` is for the block alone.", hint="Leave out `--format` and `--out`.")
    if form == "block" and everything:
        raise BackstoryError(
            "A block holds only what counts.", hint="Leave out `--all`, or choose another format.", code=Exit.USAGE
        )


def _pages(project: Project, folder: str, everything: bool) -> None:
    from backstory.project.exports import folder as writing
    from backstory.project.exports import pages

    done = writing.write(folder, pages.pages(project, everything=everything))
    tell(f"Written: {line_of(folder)} ({done.written} new or changed, {done.same} as before, {done.removed} removed)")


def _texts(run: Run, project: Project, form: str, everything: bool) -> Iterator[str | bytes]:
    from backstory.project import exporting, reports

    if form == "json":
        yield run.json_line(exporting.export(project, everything=everything))
    elif form == "jsonl":
        yield from exporting.lines(project, everything=everything)
    elif form == "block":
        from backstory.project.exports import block

        yield from block.text(project).splitlines()
    else:
        written = {"markdown": exporting.markdown, "csv": reports.table, "html": reports.page}
        yield from written[form](project, everything=everything)
