"""`backstory init`: starts a memory."""

from __future__ import annotations

import click

from backstory.surfaces.cli.console import paint, say
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.setup import Started


@make("init", "backstory init", "backstory init --private   # nothing in the work tree, nothing to commit")
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("--private", is_flag=True, help="Keep it in this clone's git folder; nothing is committed or shared.")
@click.option("--sessions/--no-sessions", default=None, help="Read your agents' transcripts here (default: ask, yes).")
@click.option("--name", default="", metavar="NAME", help="The project's name (default: the folder's).")
def command(run: Run, folder: str | None, private: bool, sessions: bool | None, name: str) -> None:
    """At the top of the git work tree, or in the folder itself without git. Running it again changes nothing."""
    from backstory.project.opened import now_micros
    from backstory.project.setup import init

    started = init(folder or run.start, private=private, name=name, now=now_micros())
    reads = _sessions(started, sessions, ask=not run.as_json)
    if run.as_json:
        run.json(started)
        return
    kind = "private memory" if started.private else "memory"
    if started.existed:
        say(f"{started.root} has a {kind} already ({started.name}){'' if started.files else '; nothing was changed'}.")
    else:
        say(f"Started a {kind} for {paint(started.name, 'bold')} in {started.root}")
    for path in started.files:
        say(f"  wrote {path}")
    for note in started.notes:
        say(f"  note: {note}")
    applying = _lessons(started)
    if applying:
        what = "lesson of your other projects applies" if applying == 1 else "lessons of your other projects apply"
        say(f"  note: {applying} {what} here; `backstory brief` shows them")
    if not started.existed:
        off = "transcripts of agents are not read here; `backstory sessions on` changes that"
        on = "transcripts of your agents on this machine are read, never committed; `backstory sessions off` ends that"
        say(f"  note: {on if reads else off}")
        say("Next:")
        if started.git and not started.private:
            say("  git add .backstory      # the memory is shared and reviewed like code")
        say('  backstory decide "what was decided" --why "the reason" --file PATH')


def _lessons(started: Started) -> int:
    """How many shared lessons match what the project depends on."""
    from backstory.project.sharing.applying import count_applying

    return count_applying(started.root)


def _sessions(started: Started, wanted: bool | None, *, ask: bool) -> bool:
    """Whether this user's transcripts are read for the project; asked for at a terminal when it is new."""
    from backstory.config import load
    from backstory.project.authority import at_terminal
    from backstory.project.sessions.reading import is_on, switch
    from backstory.records.event import PERSON

    config = load(started.root)
    if wanted is None and ask and not started.existed and at_terminal().kind == PERSON:
        question = "Read what your coding agents did here from their transcripts? They stay on this machine."
        wanted = click.confirm(question, default=True, err=True)
    if wanted is not None and wanted != is_on(config):
        switch(config, wanted)
    return is_on(config)
