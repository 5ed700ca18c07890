"""`backstory web`: starts the page, says where it is, and serves it until interrupted."""

from __future__ import annotations

import os
import sys
import threading

from backstory.project import serving
from backstory.project.authority import writer
from backstory.project.refresh import open_project
from backstory.records.event import PERSON

HOST, PORT = serving.HOST, 7338
TOKEN = "BACKSTORY_WEB_TOKEN"


def run(start: str, host: str = HOST, port: int = PORT, *, browse: bool = False) -> None:
    """Serve the project around `start`. `port` 0 takes a free one; `browse` opens the page in the browser.

    `BackstoryError` where there is no project, for an address that others can reach, a port that is taken, and a token
    in `BACKSTORY_WEB_TOKEN` that is too short.
    """
    address = serving.loopback(host)
    token, own = serving.token_of(os.environ, TOKEN)
    with open_project(start) as project:
        name, root = project.config.name, project.root
    by = writer(root)
    listening = serving.listen(address, port)
    place = serving.place_of(address, listening.getsockname()[1])
    from backstory.surfaces.web.app import application

    app = application(start, by, place, token)
    url = f"http://{place}/?token={token}"
    _say(f"the memory of {name} ({root}); Ctrl-C ends it")
    _say(f"open http://{place}/?token=... with the token in {TOKEN}" if own else f"open {url}")
    if by.kind != PERSON:
        _say("nothing can be changed there: it was not started by a person at a terminal")
    threading.Thread(target=_warm, daemon=True).start()
    if browse:
        import webbrowser

        webbrowser.open(url)
    serving.serve(app, listening)


def _say(text: str) -> None:
    sys.stderr.write(f"backstory: {text}\n")
    sys.stderr.flush()


def _warm() -> None:
    """Load what the first page would wait for."""
    import duckdb  # noqa: F401
