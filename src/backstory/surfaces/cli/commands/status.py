"""`backstory status`: what the memory holds and how it fares."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.surfaces.cli.console import line_of, paint, patience
from backstory.surfaces.cli.entries import row
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.status import Status


@make("status", "backstory status", "backstory status --session 4f2a")
@click.option("--session", default="", metavar="ID", help="Count what this session recorded.")
def command(run: Run, session: str) -> None:
    """Figures, what waits for a person, what is not in this tree, and whether the log is whole."""
    from backstory.project.status import status

    project = run.open()
    with patience("looking at every cited file"):
        figures = status(project, session)
    run.answer(figures, lambda: _lines(figures, session))


def _lines(figures: Status, session: str) -> Iterable[str]:
    kind = "private memory" if figures.private else "memory"
    yield f"{kind} of {paint(line_of(figures.name), 'bold')} in {line_of(figures.root)}"
    if figures.branch:
        yield row("branch", line_of(figures.branch))
    kinds = ", ".join(f"{count} {name}" for name, count in figures.kinds.items())
    yield row("live", f"{figures.live}{f' ({kinds})' if kinds else ''}")
    yield row("stale", _and(figures.stale, "`backstory stale` lists them"))
    yield row("waiting", _and(figures.waiting, "`backstory review` walks through them"))
    yield row("conflicts", _and(figures.conflicts, "`backstory conflicts` shows both sides"))
    yield row("rejected", _and(figures.rejected_values, "`backstory review --rejected` lists them"))
    ended = {name: count for name, count in figures.standings.items() if name in ("superseded", "retired", "expired")}
    if ended:
        yield row("ended", ", ".join(f"{count} {name}" for name, count in ended.items()))
    if figures.not_in_tree:
        away = ", ".join(
            f"{count} from {line_of(name) or 'unknown'}" for name, count in figures.not_in_tree_branches.items()
        )
        yield row("not in this tree", f"{figures.not_in_tree} ({away}); `backstory publish ID` brings one in")
    for name, count in figures.unknown_kinds.items():
        yield row("unknown kind", f"{count} {line_of(name)}")
    if session:
        yield row("this session", f"{figures.session_entries} entries")
    log = paint("whole", "green") if not figures.problems else paint(f"{figures.problems} problems", "red")
    yield row("log", f"{log}{'; run `backstory verify`' if figures.problems else ''}")
    if figures.history:
        yield row("history", ", ".join(f"{count:,} {name}" for name, count in figures.history.items()))
    else:
        yield row("history", "not read yet; `backstory history refresh` reads tickets, run records and git")
    if figures.computed:
        said = {"git": "backed out in git", "adr": "decision records"}
        yield row("computed", ", ".join(f"{count} {said.get(name, name)}" for name, count in figures.computed.items()))
    if not figures.sessions_on:
        yield row("sessions", "turned off; `backstory sessions on` reads transcripts")
    elif figures.sessions:
        turns, size = figures.sessions["turns"], size_of(figures.sessions["bytes"])
        yield row("sessions", f"{figures.sessions['sessions']:,} ({turns:,} turns, {size} of transcripts)")
    else:
        yield row("sessions", "not read yet; `backstory backfill` takes in what agents did here")
    sizes = (
        ("log", figures.log_bytes),
        ("journal", figures.journal_bytes),
        ("index", figures.index_bytes),
        ("history", figures.history_bytes),
        ("sessions", figures.archive_bytes),
    )
    yield row("size", ", ".join(f"{name} {size_of(size)}" for name, size in sizes))
    yield row("spent", f"{figures.spent_tokens} tokens on models")
    yield from (f"  note: {line_of(note)}" for note in figures.notes)


def _and(count: int, hint: str) -> str:
    return f"{count}; {hint}" if count else "0"


def size_of(count: int) -> str:
    """Bytes as people read them."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
