"""How shared lessons and known projects are printed."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.surfaces.cli.console import block, line_of, paint, tell, wrap
from backstory.surfaces.cli.entries import day, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.registering import KnownProject
    from backstory.project.sharing.answers import SharedDetail, SharedLesson
    from backstory.surfaces.cli.running import Run


def warn(now: int) -> None:
    """Say what is wrong with the machine-wide log, as every reader of a log does."""
    from backstory.project.sharing.answers import notices

    for notice in notices(now):
        tell(f"backstory: {line_of(notice)}")


def print_lessons(run: Run, found: list[SharedLesson], nothing: str) -> None:
    """The lessons, a line each."""
    run.answer(found, lambda: map(lesson_line, found))
    if not found and not run.as_json:
        tell(nothing)


def lesson_line(item: SharedLesson) -> str:
    """`7K3QZP  2026-04-15  pydantic@>=2: Validators run twice (alpha)`, with why it does not count."""
    head = f"{paint(item.short, 'bold')}  {paint(day(item.at), 'dim')}  "
    text = f"{', '.join(item.libraries)}: {line_of(item.summary)} ({line_of(item.project)})"
    return head + wrap(f"{text}{_why(item)}", 4, 22)


def lesson_full(detail: SharedDetail) -> Iterable[str]:
    """A shared lesson with all that was said about it."""
    item = detail.lesson
    yield f"lesson {paint(item.short, 'bold')}  {item.standing}{_why(item)}"
    yield block(item.summary, 2)
    if item.detail:
        yield from ("", block(item.detail, 2))
    yield ""
    yield from (row("library", line_of(text)) for text in item.libraries)
    yield row("recorded", f"{day(item.at)} by {line_of(item.by.get('name', ''))} ({line_of(item.by['kind'])})")
    yield row("project", f"{line_of(item.project)} ({line_of(item.project_id)})")
    yield from (row("replaced by", line_of(id_)) for id_ in item.superseded_by)
    for event in detail.history:
        what = "unshare" if event.get("undo") else event["kind"]
        who = event["by"].get("name") or event["by"]["kind"]
        reason = f": {event['reason']}" if event.get("reason") else ""
        yield row(line_of(what), line_of(f"{day(event['at'])} by {who}{reason}"))
    yield row("id", item.id)


def _why(item: SharedLesson) -> str:
    if item.counts:
        return ""
    return paint(f" [{item.standing if item.shared else 'unshared'}]", "red")


def project_line(item: KnownProject) -> str:
    """`7K3QZP  backstory  /home/me/backstory`, with what became of the place."""
    state = "" if item.state == "here" else paint(f" [{item.state}]", "yellow")
    also = f" (now at {', '.join(map(line_of, item.elsewhere))})" if item.state == "moved" else ""
    return f"{paint(item.id[-6:], 'bold')}  {line_of(item.name or '?')}  {line_of(item.root)}{state}{also}"
