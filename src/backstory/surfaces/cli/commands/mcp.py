"""`backstory mcp`: the memory for an agent, over stdio or over HTTP on this machine."""

from __future__ import annotations

import importlib

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.running import Run, make

# Loaded by name: surfaces do not know each other.
_SERVER = "backstory.surfaces.mcp.server"
_HTTP = "backstory.surfaces.mcp.over_http"


@make("mcp", "backstory mcp", "backstory mcp --role read", "backstory mcp --http --port 0", json=False)
@click.option(
    "--role", type=click.Choice(["read", "write"]), default="write", help="What the agent may do (default: write)."
)
@click.option(
    "--tools",
    "which",
    type=click.Choice(["backstory", "projectmem"]),
    default="backstory",
    help="Which tools are offered: our own (default), or the names that users of projectmem know.",
)
@click.option("--brief", is_flag=True, help="End the instructions with the brief, for clients without hooks.")
@click.option("--http", is_flag=True, help="Listen on a loopback address; a token is needed, and shown once.")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="With --http (default: 7337; 0: a free one).")
@click.option("--host", metavar="ADDRESS", help="With --http (default: 127.0.0.1); loopback addresses only.")
def command(run: Run, role: str, which: str, brief: bool, http: bool, port: int | None, host: str | None) -> None:
    """Speaks the protocol on stdin and stdout, where an agent's client starts it; with --http a person does."""
    if not http:
        if port is not None or host is not None:
            raise BackstoryError("Only a server over HTTP has a port and a host.", hint="Add `--http`.")
        importlib.import_module(_SERVER).run(run.start, role, which, **({"brief": True} if brief else {}))
        return
    if brief:
        raise BackstoryError(
            "A server over HTTP outlives the brief that it would begin with.",
            hint="Leave `--brief` out: agents can call the tool of that name.",
        )
    serve = importlib.import_module(_HTTP)
    serve.run(run.start, role, which, host or serve.HOST, serve.PORT if port is None else port)
