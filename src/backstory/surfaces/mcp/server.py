"""The MCP server on stdio: the official SDK below, our tools above, both eras of the protocol in one process.

The guard on the streams comes first; then the SDK, which takes a second to import, while the handshake is answered
from plain data; what is heavy of ours waits for the first call.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any

from backstory import __version__
from backstory.surfaces.mcp import arguments, tools
from backstory.surfaces.mcp.early import LIST_TTL_MS, NAME, TITLE, Early, serve
from backstory.surfaces.mcp.replies import Reply, fault
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.streams import Outgoing, incoming, take

if TYPE_CHECKING:
    from io import TextIOWrapper

    from anyio import CapacityLimiter
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

    from backstory.project.keeping import Keeper


def run(start: str, role: str) -> None:
    """Serve until the client closes stdin. `start` is the folder that was named, or the working directory."""
    source, wire = take()
    try:
        _run(source, wire, Service(Scope(start, os.environ, _cwd()), role))
    except (KeyboardInterrupt, BrokenPipeError):
        return
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is not None:
            raise
        # The client went away while it was answered.


def _run(source: int, wire: Outgoing, service: Service) -> None:
    loading = Loading()
    # `select` takes no pipes on Windows: there the handshake waits for the SDK.
    read = serve(Early(service.role), source, wire, loading.ready) if os.name == "posix" else b""
    loading.finish()
    import anyio

    anyio.run(_serve, service, incoming(read, source), wire)


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
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


class Service:
    """What answers requests: the scope, the role, and the session that writes of this process name."""

    def __init__(self, scope: Scope, role: str) -> None:
        self.scope, self.role = scope, role
        self.session = ""
        self.one_at_a_time: CapacityLimiter | None = None
        self.keeper: Keeper | None = None

    def server(self) -> Server[dict[str, Any]]:
        """The SDK's server with our handlers."""
        from anyio import CapacityLimiter
        from mcp.server.caching import CacheHint
        from mcp.server.lowlevel import Server

        # Calls share an index, and the first may have to build it.
        self.one_at_a_time = CapacityLimiter(1)
        return Server(
            NAME,
            title=TITLE,
            version=__version__,
            instructions=tools.instructions(self.role),
            cache_hints={"tools/list": CacheHint(ttl_ms=LIST_TTL_MS, scope="public")},
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    async def list_tools(self, ctx: ServerRequestContext, params: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools of this server's role."""
        from mcp_types import ListToolsResult

        return ListToolsResult.model_validate({"tools": [tool.listed() for tool in tools.offered(self.role)]})

    async def call_tool(self, ctx: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        """One call, in a worker thread: the connection goes on answering meanwhile."""
        import anyio
        from mcp_types import CallToolResult, TextContent

        given = self._checked(params.name, params.arguments)
        info = ctx.session.client_params.client_info if ctx.session.client_params else None
        reply = await anyio.to_thread.run_sync(
            self._answer, params.name, given, info.name if info else "", limiter=self.one_at_a_time
        )
        return CallToolResult(
            content=[TextContent(type="text", text=reply.text)],
            structured_content=reply.data,
            is_error=reply.failed,
        )

    def _checked(self, name: str, given: dict[str, Any] | None) -> dict[str, Any]:
        """The arguments of a call that may be made; anything else is an error of the protocol."""
        from mcp.shared.exceptions import MCPError
        from mcp_types import INVALID_PARAMS

        tool = tools.TOOLS.get(name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:100]}")
        if tool.writes and self.role != tools.WRITE:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name}. This server was started without the write role.")
        clean = arguments.given(given, tool.input_schema)
        wrong = arguments.fault(clean, tool.input_schema)
        if wrong:
            raise MCPError(INVALID_PARAMS, f"Invalid arguments for {name}: {wrong}")
        return clean

    def _answer(self, tool: str, given: dict[str, Any], client: str) -> Reply:
        try:
            from backstory.project.keeping import Keeper
            from backstory.surfaces.mcp import calls

            self.keeper = self.keeper or Keeper()
            return calls.answer(self.scope, self.keeper, calls.Caller(client, self._session()), tool, given)
        except Exception as error:  # noqa: BLE001 (the client gets one sentence, stderr the rest)
            traceback.print_exc(file=sys.stderr)
            return fault(error)

    def _session(self) -> str:
        """The client's session where it says which; else one per process, so that it counts as one voice."""
        if not self.session:
            from uuid import uuid4

            from backstory.project.authority import session_id

            self.session = session_id(os.environ) or f"mcp-{uuid4().hex[:16]}"
        return self.session
