"""`backstory sessions on`: whether transcripts are read for this project, for oneself."""

from __future__ import annotations

from backstory.surfaces.cli.console import say
from backstory.surfaces.cli.running import Run, make


@make("sessions on", "backstory sessions on")
def command(run: Run) -> None:
    """Only your own transcripts, only on this machine; nothing of them is committed."""
    from backstory.project.sessions.reading import Switched, switch

    project = run.open()
    switch(project.config, True)
    if run.as_json:
        run.json(Switched(True))
        return
    say("Transcripts on this machine are read for this project; `backstory backfill` takes in the old ones.")
