"""How what capture did reads on a screen."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.errors import BackstoryError, Exit
from backstory.surfaces.cli.console import line_of, paint, tell, wrap
from backstory.surfaces.cli.sessions import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.capture.running import Captured

_KIND_WIDTH = 10
_COLOURS = {"active": "green", "proposed": "yellow"}


def refuse_if_off(done: Captured) -> None:
    """Say that transcripts are not read here."""
    if done.stopped == "off":
        raise BackstoryError(
            "Reading the transcripts of sessions is turned off for this project.",
            hint="Turn it on with `backstory sessions on`.",
            code=Exit.REFUSED,
        )


def captured_lines(done: Captured) -> Iterable[str]:
    """What was found, then the counts."""
    for one in done.proposals:
        standing = one.standing or one.status
        head = f"{one.id[-6:] or '------'}  {paint(f'{standing:<9}', _COLOURS.get(standing, 'dim'))}"
        head += f"  {one.kind:<{_KIND_WIDTH}}  "
        text = f"{line_of(one.summary)} [{one.detector}, session {short(one.session)}]"
        yield head + wrap(text, 6 + 2 + 9 + 2 + _KIND_WIDTH + 2, 8)
        if one.status in ("dropped", "refused") and one.why:
            yield f"        {paint(one.status, 'yellow')}: {wrap(line_of(one.why), 10, 18)}"
    would = "would be " if done.dry_run else ""
    counts = [f"{done.recorded:,} {would}recorded ({done.active:,} active)"]
    counts += [f"{count:,} {what}" for what, count in (
        ("confirmed", done.confirmed), ("put in doubt", done.contested), ("known before", done.known),
        ("dropped: withdrawn before", done.dropped), ("refused", done.refused),
    ) if count]  # fmt: skip
    yield f"{_sessions(done.sessions)} looked at: {', '.join(counts)}."
    if done.recorded > done.active and not done.dry_run:
        tell("`backstory review` walks through what is proposed.")
    if done.stopped == "time":
        tell("Time ran out; run it again to go on.")


def _sessions(number: int) -> str:
    return "1 session" if number == 1 else f"{number:,} sessions"
