"""`backstory history query`: one SELECT over the history."""

from __future__ import annotations

import sys

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.asking_history import as_it_is, up_to_date
from backstory.surfaces.cli.console import columns, say_all, tell
from backstory.surfaces.cli.filters import Count
from backstory.surfaces.cli.running import Run, make

_FORMATS = ("table", "csv", "json", "markdown")


@make(
    "history query",
    'backstory history query "SELECT author, count(*) FROM commits GROUP BY ALL ORDER BY 2 DESC LIMIT 5"',
    "backstory history query --schema",
    "backstory history query --examples",
)
@click.argument("sql", required=False)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="table", help="How to print it (default table).")
@click.option("--rows", type=Count(1, 1_000_000), default=1_000, metavar="N", help="At most N rows (default 1,000).")
@click.option("--seconds", type=click.FloatRange(0.1, 3600), default=10.0, metavar="S", help="At most S (default 10).")
@click.option("--memory-mb", type=Count(32, 65_536), default=256, metavar="MB", help="At most MB (default 256).")
@click.option("--schema", is_flag=True, help="Print the tables and what their columns mean.")
@click.option("--examples", is_flag=True, help="Print ten queries to begin with.")
@as_it_is
def command(
    run: Run, sql: str | None, form: str, rows: int, seconds: float, memory_mb: int, schema: bool, examples: bool,
    as_is: bool,
) -> None:  # fmt: skip
    """SQL is one SELECT or WITH ... SELECT in DuckDB's dialect; `-` reads it from stdin. It can change nothing."""
    from backstory.project.history import texts

    if schema:
        run.answer(texts.schema_json(), lambda: texts.schema_text(columns() or 100))
        return
    if examples:
        run.answer(texts.examples_json(), texts.examples_text)
        return
    text = sys.stdin.read() if sql == "-" else sql
    if not text or not text.strip():
        raise BackstoryError(
            "There is no query.", hint="Give one SELECT; `backstory history query --examples` shows ten."
        )
    from backstory.project.history.asking import Limits, query

    result = query(up_to_date(run, as_is), text, Limits(seconds, rows, memory_mb))
    if run.as_json:
        run.json(texts.result_json(result))
    else:
        say_all(texts.result_lines(result, form, columns()))
    if result.more:
        tell(f"There are more than these {rows:,} rows; `--rows N` shows them.")
