"""The results as rows, and the rows as Markdown."""

import os
import platform
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

# A figure is flat when the largest log costs at most so many times what the smallest does.
FLAT = 1.3


@dataclass(eq=False)
class Row:
    """One measured quantity. `measured` and `peer` hold one figure for each size of the log."""

    what: str
    unit: str
    bar: str = "for information"
    limit: float | None = None
    flat: bool = False
    measured: dict[int, float] = field(default_factory=dict)
    peer: dict[int, float] = field(default_factory=dict)
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the bar is met at the largest size, and whether the figure is flat where it has to be."""
        if self.limit is None or not self.measured:
            return ""
        said = []
        worst = max(self.measured.values())
        if worst > self.limit:
            said.append(f"missed ({worst / self.limit:.2f} times the bar)")
        smallest, largest = self.measured[min(self.measured)], self.measured[max(self.measured)]
        if self.flat and largest > FLAT * smallest:
            said.append(f"not flat ({largest / smallest:.1f} times)")
        return ", ".join(said) or "met"


@dataclass
class Part:
    """What one benchmark found: rows, and paragraphs about how it was measured."""

    title: str
    how: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def markdown(parts: Sequence[Part], sizes: Sequence[int], command: str, busy: str) -> str:
    """The whole document. `busy` says how busy the machine was: a core that is shared counts more time for the same."""
    lines = [
        "# Benchmarks",
        "",
        "Written by the command below, never by hand. Figures are medians of interleaved runs in one go on one",
        "machine. CPU time is user and system time of the process and its children.",
        "",
        f"    {command}",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {machine()}; load average {busy}. {PROJECT}",
        "",
    ]
    for part in parts:
        lines += [f"## {part.title}", "", part.how, "", *table(part.rows, sizes), ""]
        lines += [line for note in part.notes for line in (note, "")]
    return "\n".join(lines).rstrip("\n") + "\n"


PROJECT = (
    "The projects are made up (`benchmarks/generate.py`): a git repository with 300 files and 60 commits, and a log"
    " of so many events over 400 days in sessions of 20, which cites 2,000 paths with 6,000 different words."
)


def machine() -> str:
    """Cores and versions."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    name = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{name}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, git {git}"


def table(rows: Sequence[Row], sizes: Sequence[int]) -> list[str]:
    """One line a row; the peer's column only where there is a peer."""
    peers = any(row.peer for row in rows)
    own = sorted({size for row in rows for size in (*row.measured, *row.peer)})
    # What is measured on real projects has sizes of its own; one of them needs no name.
    sizes = sizes if not own or set(own) & set(sizes) else own
    shown = " / ".join(f"{size:,}" for size in sizes)
    head = ["what", *([f"projectmem at {shown}"] if peers else []), "bar", f"measured at {shown}", "verdict"]
    lines = [_line(head), _line(["---"] * len(head))]
    for row in rows:
        cells = [f"{row.what}, {row.unit}", *([_figures(row.peer, sizes)] if peers else []), row.bar]
        lines.append(_line([*cells, _figures(row.measured, sizes), row.verdict]))
    return lines


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figures(values: Mapping[int, float], sizes: Sequence[int]) -> str:
    return " / ".join(_figure(values[size]) if size in values else "-" for size in sizes) if values else ""


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def say(text: str) -> None:
    """Progress goes to stderr; the document goes to its file."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
