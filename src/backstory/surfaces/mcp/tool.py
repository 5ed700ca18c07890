"""A tool as plain data, and the roles that a server can have."""

from __future__ import annotations

from typing import Any, NamedTuple

from backstory.surfaces.mcp.schemas import Schema

# The other is `read`.
WRITE = "write"


class Tool(NamedTuple):
    """One tool: its texts, its schemas, and the hints that clients ask permission by.

    `writes`: it needs the write role. `also_writes` is the input schema of a tool that reads, and with the write role
    writes too.
    """

    name: str
    title: str
    description: str
    input_schema: Schema
    output_schema: Schema
    writes: bool = False
    destructive: bool = False
    also_writes: Schema | None = None

    def schema(self, role: str) -> Schema:
        """The arguments that a client of `role` may give."""
        return self.also_writes if self.also_writes and role == WRITE else self.input_schema

    def listed(self, role: str) -> dict[str, Any]:
        """The tool as `tools/list` shows it.

        No hint says idempotent, which is for tools that write: saying something again is an event too.
        """
        writes = self.writes or bool(self.also_writes and role == WRITE)
        hints = {"readOnlyHint": not writes, "openWorldHint": False}
        if writes:
            hints["destructiveHint"] = self.destructive
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema(role),
            "outputSchema": self.output_schema,
            "annotations": hints,
        }
