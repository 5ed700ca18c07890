"""`backstory stats`: the memory at work, in counts."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.surfaces.cli.console import line_of, paint, tell
from backstory.surfaces.cli.entries import row
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.stats import Stats


@make("stats", "backstory stats", "backstory stats --json")
def command(run: Run) -> None:
    """What it holds, what sessions on this machine were given, and what came of warnings. Counts, no estimates of
    hours or money.
    """
    from backstory.project.stats import stats

    found = stats(run.open())
    run.answer(found, lambda: _lines(found))


def _lines(found: Stats) -> Iterable[str]:
    for kind, standings in found.entries.items():
        yield row(kind, ", ".join(f"{count:,} {standing}" for standing, count in standings.items()))
    yield ""
    yield paint(f"sessions of the last {found.days} days on this machine", "bold")
    yield row("sessions", f"{found.sessions:,} were told something")
    if found.sessions:
        kinds = ", ".join(f"{count:,} {what}" for what, count in found.tokens.items())
        yield row("tokens", f"{found.tokens_median:,} in the middle, {found.tokens_most:,} at most; in all {kinds}")
    if found.lines:
        yield row("lines", f"{found.lines:,}, {found.age_days_median} days old in the middle when they were given")
        yield row("since then", f"{_share(found.confirmed_since, found.lines)} confirmed, "
                                f"{_share(found.withdrawn_since, found.lines)} withdrawn")  # fmt: skip
    yield row("warnings", f"{found.warnings:,} given, {found.followed:,} followed by another edit of the file, "
                          f"{found.refused:,} edits refused, {found.dismissed:,} dismissed")  # fmt: skip
    yield from (row("dismissed", line_of(why or "without a reason")) for why in found.dismissals)
    if not found.sessions:
        tell("No session was told anything yet; `backstory install` brings the memory to your agents.")


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.0f} %)"
