"""`backstory history grade`: predictions held against what it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from backstory.surfaces.cli.asking_history import as_it_is, up_to_date
from backstory.surfaces.cli.console import line_of, paint, tell
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.history.asking import Grade

_BY = ("model", "month", "ticket")


@make("history grade", "backstory history grade", "backstory history grade --by ticket")
@click.option("--by", "groups", multiple=True, type=click.Choice(_BY), help="Only this grouping. Repeatable.")
@as_it_is
def command(run: Run, groups: tuple[str, ...], as_is: bool) -> None:
    """Files, minutes and complexity, as the run records have them. A ratio of 2 means twice what was predicted."""
    from backstory.project.history.asking import grade

    found = grade(up_to_date(run, as_is))
    run.answer(found, lambda: _lines(found, groups or ("model", "month")))
    if not any(found.both.values()) and not run.as_json:
        tell("No run record carries both a prediction and what it took; `backstory run start --help` says how.")


def _lines(found: Grade, groups: tuple[str, ...]) -> Iterable[str]:
    sides = ", ".join(f"{count} for {name}" for name, count in found.both.items())
    yield f"{found.records} run records; both sides: {sides}"
    rows = [("", "measure", "records", "ratio: quarter", "median", "three quarters", "within 25 %", "off by, mean")]
    for by in ("all", *groups):
        for one in found.spreads:
            if one.by == by:
                numbers = (_ratio(one.low), _ratio(one.median), _ratio(one.high), str(one.near), f"{one.mean_off:+g}")
                rows.append((f"{by} {one.name}" if by != "all" else "all", one.measure, str(one.records), *numbers))
    if len(rows) > 1:
        yield from _table(rows)
    if found.worst:
        yield paint("Worst misses", "bold")
        head = ("ticket", "measure", "predicted", "actual", "ratio", "model")
        yield from _table(
            [head, *((m.ticket, m.measure, f"{m.predicted:g}", f"{m.actual:g}", _ratio(m.ratio), m.model)
                     for m in found.worst)]
        )  # fmt: skip
    if found.complexity:
        yield paint("Complexity, predicted and actual", "bold")
        yield from _table([("predicted", "actual", "records"), *((c.predicted, c.actual, str(c.records))
                                                                for c in found.complexity)])  # fmt: skip


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    clean = [tuple(line_of(cell)[:60] for cell in row) for row in rows]
    widths = [max(len(row[place]) for row in clean) for place in range(len(clean[0]))]
    for row in clean:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
