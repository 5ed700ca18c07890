"""The least that a server on the MCP SDK can be: no tools, or with `echo` one that returns its argument."""

import sys
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

ECHO = Tool(
    name="echo",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[ECHO] if "echo" in sys.argv else [])


async def call_tool(_context: Any, params: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=params.arguments["text"])])


async def main() -> None:
    server: Server[Any] = Server("empty", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


anyio.run(main)
