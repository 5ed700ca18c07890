"""`backstory watch`: proposes files that are edited again and again as hot files."""

from __future__ import annotations

import click

from backstory.surfaces.cli.console import flush, line_of, say, tell
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.watching.watcher import Seen


@make("watch", "backstory watch", "backstory watch --edits 10 --minutes 5", "backstory watch --parent 4711 --json")
@click.option("--edits", type=int, metavar="N", help="So many edits of one file are churn (default: 6).")
@click.option("--minutes", type=float, metavar="N", help="Within so many minutes (default: 10).")
@click.option("--parent", type=click.IntRange(1), metavar="PID", help="End when that process ends.")
def command(run: Run, edits: int | None, minutes: float | None, parent: int | None) -> None:
    """Stays in the foreground, and ends with Ctrl-C, with the process that started it, or when its stdin is closed.

    Only files that git tracks count. With --json each thing seen is a line of its own. The table `watch` of
    project.toml has the same settings: edits, minutes, gap_seconds (saves that are one edit), poll_seconds.
    """
    from backstory.project.watching.running import watch

    def shown(seen: Seen) -> None:
        if run.as_json:
            run.json(seen)
        elif line := _line(seen):
            (tell if seen.what in ("started", "ended") else say)(line)
        flush()

    try:
        watch(run.start, parent or 0, shown, edits=edits, minutes=minutes)
    except KeyboardInterrupt:
        tell("Ended.")


def _line(seen: Seen) -> str:
    path, text = line_of(seen.path), line_of(seen.text)
    lines = {
        "started": text,
        "ended": f"Ended: {text}.",
        "proposed": f"{path}: {seen.edits} edits; proposed as a hot file, {seen.id}. `backstory review` shows it.",
        "known": f"{path}: {seen.edits} edits; {text}, {seen.id}.",
        "refused": f"{path}: {seen.edits} edits; {text}",
    }
    return lines.get(seen.what, "")
