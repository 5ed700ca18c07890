"""The MCP server on stdio: the official SDK below, our offer above, both eras of the protocol in one process.

The guard on the streams comes first; then the SDK, which takes a second to import, while the handshake is answered
from plain data; what is heavy of ours waits for the first call.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import TYPE_CHECKING

from backstory.surfaces.mcp import offering
from backstory.surfaces.mcp.early import Early, serve
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.service import Service
from backstory.surfaces.mcp.streams import Outgoing, incoming, take

if TYPE_CHECKING:
    from io import TextIOWrapper

BRIEF_SECONDS = 0.5


def run(start: str, role: str, which: str = offering.OWN, *, brief: bool = False) -> None:
    """Serve until the client closes stdin. `start` is the folder that was named, or the working directory.

    `which` is the set of tools. With `brief` the instructions end with the brief of the project that the server is
    bound to, as it is now.
    """
    source, wire = take()
    scope, offer = Scope(start, os.environ, cwd()), offering.offer(role, which)
    try:
        _run(source, wire, Service(scope, offering.with_brief(offer, _brief(scope)) if brief else offer))
    except (KeyboardInterrupt, BrokenPipeError):
        return
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is not None:
            raise
        # The client went away while it was answered.


def _run(source: int, wire: Outgoing, service: Service) -> None:
    loading = Loading()
    # `select` takes no pipes on Windows: there the handshake waits for the SDK.
    read = serve(Early(service.offer), source, wire, loading.ready) if os.name == "posix" else b""
    loading.finish()
    import anyio

    anyio.run(_serve, service, incoming(read, source), wire)


def _brief(scope: Scope) -> str:
    """The brief by the hooks' own way, which takes 50 ms; "" where there is none or an index has to be made first.

    No failure of it stops the server, and none makes the client wait: one gives up after 1.5 seconds.
    """
    found: list[str] = []
    maker = threading.Thread(target=_make_brief, args=(scope, found), name="the brief", daemon=True)
    maker.start()
    maker.join(BRIEF_SECONDS)
    if maker.is_alive():
        sys.stderr.write("backstory: the index is behind; the session starts without the brief\n")
    return found[0] if found else ""


def _make_brief(scope: Scope, found: list[str]) -> None:
    try:
        import time

        from backstory.project.session_start import session_brief

        bound = scope.bound()
        text, notices = session_brief(bound.root, "", time.time_ns() // 1000) if bound else ("", [])
    except Exception as error:  # noqa: BLE001 (said, and the session goes on without it)
        text, notices = "", [f"there is no brief: {error}"]
    for notice in notices:
        sys.stderr.write(f"backstory: {notice}\n")
    found.append(text)


def cwd() -> str:
    """The working directory; the root when it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


class Loading:
    """The import of the SDK, in a thread of its own. `ready` can be read from when it is over."""

    def __init__(self) -> None:
        self.ready, self._done = os.pipe()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._load, name="import of the SDK", daemon=True)
        # The SDK's models make a great many objects and no garbage: uncollected, the import takes a fifth less.
        gc.disable()
        self._thread.start()

    def _load(self) -> None:
        try:
            import mcp.server.lowlevel
            import mcp.server.stdio  # noqa: F401
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            self._error = error
        os.write(self._done, b".")

    def finish(self) -> None:
        """Wait for it; what it raised is raised here."""
        self._thread.join()
        gc.freeze()
        gc.enable()
        if self._error is not None:
            raise self._error


async def _serve(service: Service, source: TextIOWrapper, wire: Outgoing) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    server = service.server()
    streams = stdio_server(stdin=anyio.wrap_file(source), stdout=anyio.wrap_file(wire))
    async with streams as (arriving, leaving):
        await server.run(arriving, leaving, server.create_initialization_options())
