"""Answers requests for one server process: what the SDK hands over is checked, asked of the memory, and handed back.

Whatever transport a request came by, and in whatever era of the protocol, it is answered here. One request at a time
works on a memory, in a worker thread: the connection goes on answering meanwhile.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from backstory import __version__
from backstory.errors import Exit
from backstory.surfaces.mcp import arguments, offering, offers
from backstory.surfaces.mcp.early import HANDSHAKE_VERSIONS, LIST_TTL_MS, NAME, TITLE
from backstory.surfaces.mcp.replies import Reply, fault
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.tool import WRITE

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        GetPromptRequestParams,
        GetPromptResult,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListToolsResult,
        PaginatedRequestParams,
        ReadResourceRequestParams,
        ReadResourceResult,
    )

    from backstory.project.keeping import Keeper
    from backstory.surfaces.mcp.answering import Caller


class Service:
    """The scope and what is offered. `several`: clients with sessions of their own share the process (HTTP)."""

    def __init__(self, scope: Scope, offer: offering.Offer, *, several: bool = False) -> None:
        self.scope, self.offer, self.several = scope, offer, several
        self.one_at_a_time: CapacityLimiter | None = None
        self._keeper: Keeper | None = None
        self._session = ""

    def server(self) -> Server[dict[str, Any]]:
        """The SDK's server with our handlers."""
        from anyio import CapacityLimiter
        from mcp.server.caching import CacheHint
        from mcp.server.lowlevel import Server

        # Calls share an index, and the first may have to build it.
        self.one_at_a_time = CapacityLimiter(1)
        fixed = CacheHint(ttl_ms=LIST_TTL_MS, scope="public")
        return Server(
            NAME,
            title=TITLE,
            version=__version__,
            instructions=self.offer.instructions,
            cache_hints={"tools/list": fixed, "prompts/list": fixed, "resources/templates/list": fixed},
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )

    async def list_tools(self, ctx: ServerRequestContext, params: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools of this server's role."""
        from mcp_types import ListToolsResult

        return ListToolsResult.model_validate({"tools": self.offer.listed()})

    async def call_tool(self, ctx: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        """One call."""
        from mcp_types import CallToolResult, TextContent

        given = self._checked(params.name, params.arguments)
        reply = await self._ask(ctx, lambda caller: self._call(caller, params.name, given))
        return CallToolResult(
            content=[TextContent(type="text", text=reply.text)],
            structured_content=reply.data,
            is_error=reply.failed,
        )

    async def list_resources(
        self, ctx: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """The briefs, and what is open."""
        from mcp_types import ListResourcesResult

        def find(caller: Caller) -> Reply:
            from backstory.surfaces.mcp import resources

            return Reply({"resources": resources.listed(self.scope, self.keeper)}, "")

        return ListResourcesResult.model_validate(self._must(await self._ask(ctx, find)).data)

    async def list_templates(
        self, ctx: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The forms that addresses have."""
        from mcp_types import ListResourceTemplatesResult

        return ListResourceTemplatesResult.model_validate({"resourceTemplates": offers.TEMPLATES})

    async def read_resource(self, ctx: ServerRequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        """What stands at an address; an address of nothing is an error of the protocol."""
        from mcp_types import ReadResourceResult, TextResourceContents

        def read(caller: Caller) -> Reply:
            from backstory.surfaces.mcp import resources

            return resources.read(self.scope, self.keeper, params.uri)

        reply = self._must(await self._ask(ctx, read), uri=params.uri)
        return ReadResourceResult(
            contents=[TextResourceContents(uri=params.uri, mime_type="text/plain", text=reply.text)]
        )

    async def list_prompts(self, ctx: ServerRequestContext, params: PaginatedRequestParams | None) -> ListPromptsResult:
        """The prompts."""
        from mcp_types import ListPromptsResult

        return ListPromptsResult.model_validate({"prompts": offers.PROMPTS})

    async def get_prompt(self, ctx: ServerRequestContext, params: GetPromptRequestParams) -> GetPromptResult:
        """One prompt, filled with what the memory holds."""
        from mcp_types import GetPromptResult, PromptMessage, TextContent

        def fill(caller: Caller) -> Reply:
            from backstory.surfaces.mcp import prompts

            return prompts.get(self.scope, self.keeper, caller, self.offer, params.name, params.arguments or {})

        reply = self._must(await self._ask(ctx, fill))
        about = next(prompt["description"] for prompt in offers.PROMPTS if prompt["name"] == params.name)
        message = PromptMessage(role="user", content=TextContent(type="text", text=reply.text))
        return GetPromptResult(description=about, messages=[message])

    @property
    def session(self) -> str:
        """The client's session where it says which; else one per process, so that it counts as one voice."""
        if not self._session:
            from uuid import uuid4

            from backstory.project.authority import session_id

            self._session = ("" if self.several else session_id(os.environ)) or f"mcp-{uuid4().hex[:16]}"
        return self._session

    @property
    def keeper(self) -> Keeper:
        """What keeps the project open from call to call."""
        if self._keeper is None:
            from backstory.project.keeping import Keeper

            self._keeper = Keeper()
        return self._keeper

    def _call(self, caller: Caller, tool: str, given: dict[str, Any]) -> Reply:
        if self.offer.set == offering.PROJECTMEM:
            from backstory.surfaces.mcp.projectmem import calls as others

            return others.answer(self.scope, self.keeper, caller, self.offer, tool, given)
        from backstory.surfaces.mcp import calls

        return calls.answer(self.scope, self.keeper, caller, tool, given)

    async def _ask(self, ctx: ServerRequestContext, ask: Callable[[Caller], Reply]) -> Reply:
        import anyio

        info = ctx.session.client_params.client_info if ctx.session.client_params else None
        name, session = info.name if info else "", self._session_of(ctx)
        return await anyio.to_thread.run_sync(self._answer, name, session, ask, limiter=self.one_at_a_time)

    def _answer(self, client: str, session: str, ask: Callable[[Caller], Reply]) -> Reply:
        try:
            from backstory.surfaces.mcp.answering import Caller

            return ask(Caller(client, session))
        except Exception as error:  # noqa: BLE001 (the client gets one sentence, stderr the rest)
            traceback.print_exc(file=sys.stderr)
            return fault(error)

    def _session_of(self, ctx: ServerRequestContext) -> str:
        """The session that writes name: of several clients each has its own where the transport gave it one.

        A stateless request has none that it could not make up: all of them are one voice.
        """
        if not self.several or ctx.protocol_version not in HANDSHAKE_VERSIONS or ctx.request is None:
            return self.session
        given: str = ctx.request.headers.get("mcp-session-id", "")
        return f"{self.session}-{given[:16]}" if given else self.session

    def _checked(self, name: str, given: dict[str, Any] | None) -> dict[str, Any]:
        """The arguments of a call that may be made; anything else is an error of the protocol."""
        tool = self.offer.tools.get(name)
        if tool is None:
            hidden = name in offering.offer(WRITE, self.offer.set).tools
            why = f"{name}. This server was started without the write role." if hidden else name[:100]
            raise _error(f"Unknown tool: {why}")
        schema = tool.schema(self.offer.role)
        clean = arguments.given(given, schema)
        wrong = arguments.fault(clean, schema)
        if wrong:
            raise _error(f"Invalid arguments for {name}: {wrong}")
        return clean

    def _must(self, reply: Reply, **about: str) -> Reply:
        """A reply that is none of a tool: a refusal is an error of the protocol."""
        if reply.failed:
            raise _error(reply.text.replace("\n", " "), ours=reply.data["error"]["code"] == Exit.FAULT, **about)
        return reply


def _error(message: str, *, ours: bool = False, **about: str) -> Exception:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

    return MCPError(INTERNAL_ERROR if ours else INVALID_PARAMS, message, about or None)
