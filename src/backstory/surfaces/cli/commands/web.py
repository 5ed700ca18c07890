"""`backstory web`: the memory as a page."""

from __future__ import annotations

import importlib

import click

from backstory.surfaces.cli.running import Run, make

# Loaded by name: surfaces do not know each other.
_PAGE = "backstory.surfaces.web.serving"


@make("web", "backstory web", "backstory web --open", "backstory web --port 0", json=False)
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="Default: 7338; 0: a free one.")
@click.option("--host", metavar="ADDRESS", help="Default: 127.0.0.1; loopback addresses only.")
@click.option("--open", "browse", is_flag=True, help="Open it in the browser.")
def command(run: Run, port: int | None, host: str | None, browse: bool) -> None:
    """On this machine alone, until Ctrl-C. The address that it prints holds a token, without which it shows nothing.

    Where a person starts it at a terminal, that person can judge there: approve, edit, reject, merge, undo.
    """
    page = importlib.import_module(_PAGE)
    page.run(run.start, host or page.HOST, page.PORT if port is None else port, browse=browse)
