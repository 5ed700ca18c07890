"""`backstory init`: starts a memory."""

from __future__ import annotations

import click

from backstory.surfaces.cli.console import paint, say
from backstory.surfaces.cli.running import Run, make


@make("init", "backstory init", "backstory init --private   # nothing in the work tree, nothing to commit")
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("--private", is_flag=True, help="Keep it in this clone's git folder; nothing is committed or shared.")
@click.option("--name", default="", metavar="NAME", help="The project's name (default: the folder's).")
def command(run: Run, folder: str | None, private: bool, name: str) -> None:
    """At the top of the git work tree, or in the folder itself without git. Running it again changes nothing."""
    from backstory.project.opened import now_micros
    from backstory.project.setup import init

    started = init(folder or run.start, private=private, name=name, now=now_micros())
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
    if not started.existed:
        say("Next:")
        if started.git and not started.private:
            say("  git add .backstory      # the memory is shared and reviewed like code")
        say('  backstory decide "what was decided" --why "the reason" --file PATH')
