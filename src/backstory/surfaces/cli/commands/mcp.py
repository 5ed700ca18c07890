"""`backstory mcp`: the memory for an agent, over stdio."""

from __future__ import annotations

import importlib

import click

from backstory.surfaces.cli.running import Run, make

# Loaded by name: surfaces do not know each other.
_SERVER = "backstory.surfaces.mcp.server"


@make("mcp", "backstory mcp", "backstory mcp --role read", json=False)
@click.option(
    "--role", type=click.Choice(["read", "write"]), default="write", help="What the agent may do (default: write)."
)
def command(run: Run, role: str) -> None:
    """Speaks the protocol on stdin and stdout; an agent's client starts it, not a person."""
    importlib.import_module(_SERVER).run(run.start, role)
