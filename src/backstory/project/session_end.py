"""What is done when a session is over: its transcript is read, and what it learned is proposed, within the hook's time.

What does not fit into the time waits for the next `backstory capture`, which goes on there.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from backstory.config import Places
    from backstory.sources.transcripts.contract import Found

# Of the four seconds that a hook has; loading what reads takes a part of the first.
SECONDS = 2.5


def captured(places: Places, client: str, session: str, transcript: str, now: int) -> list[str]:
    """Read one transcript and propose what it gives; notices for stderr."""
    from backstory.project.session_start import bring_packages

    bring_packages()
    from backstory.config import read_marker
    from backstory.project.capture.running import capture
    from backstory.project.refresh import open_config

    config = read_marker(places)
    if not config.settings.capture:
        return []
    home = os.path.expanduser("~")
    with open_config(config, now=now, seconds=1.0) as project:
        found = list(_transcripts(client, session, transcript, home))
        done = capture(project, os.environ, home, only=found, together=False, seconds=SECONDS)
        notices = list(project.notices)
    if done.recorded:
        new = f"{done.recorded} new" if done.recorded > 1 else "1 new"
        notices.append(f"{new} from this session ({done.active} active, the rest proposed); see `backstory review`")
    return notices


def _transcripts(client: str, session: str, transcript: str, home: str) -> Iterator[Found]:
    """The session's transcript: where the client says it is, else where its name says so."""
    from backstory.sources.transcripts import known
    from backstory.sources.transcripts.contract import Found

    if transcript:
        path = os.path.expanduser(transcript)
        if os.path.isfile(path):
            yield Found(client.replace("_", "-"), path)
        return
    if session:
        yield from (one for one in known.module(client).files(os.environ, home) if session in (one.part or one.path))
