"""`backstory sessions off`: whether transcripts are read for this project, for oneself."""

from __future__ import annotations

from backstory.surfaces.cli.console import say
from backstory.surfaces.cli.running import Run, make


@make("sessions off", "backstory sessions off")
def command(run: Run) -> None:
    """For you, on this machine. What was read is deleted; entries that came of it stay in the log."""
    from backstory.project.sessions.reading import Switched, switch

    project = run.open()
    switch(project.config, False)
    if run.as_json:
        run.json(Switched(False))
        return
    say("Transcripts are no longer read for this project, and what was read of them is deleted.")
