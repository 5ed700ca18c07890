"""A server over HTTP for the conformance suite: it adds its own token to each request, which the suite cannot be told.

    python -m tests.mcp.open_server FOLDER          prints its address, then serves until it is ended

It offers what ours does, and beside that the few stand-ins that the suite asks for by name, so that our own handlers
are what answers. They go through the same code as our tools, resources and prompts; only what they say is made up.
"""

import json
import socket
import sys
from typing import Any

from backstory.project import serving
from backstory.surfaces.mcp import offering, offers, over_http, prompts, resources, schemas
from backstory.surfaces.mcp.answering import Caller
from backstory.surfaces.mcp.replies import Reply
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.service import Service
from backstory.surfaces.mcp.tool import WRITE, Tool

TOKEN = "a-token-of-this-test-alone"
NOTHING: schemas.Schema = {"type": "object", "properties": {}, "additionalProperties": False}
SAID = {
    "test_simple_text": Reply({}, "This is a simple text response for testing."),
    "test_error_handling": Reply({"error": {}}, "This tool intentionally returns an error for testing", failed=True),
}
PROMPTS = {
    "test_simple_prompt": ("This is a simple prompt for testing.", ()),
    "test_prompt_with_arguments": ("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'", ("arg1", "arg2")),
}
TEXT = "This is the content of the static text resource."


class StandingIn(Service):
    """Ours, with the tools of the suite beside our own."""

    def _call(self, caller: Caller, tool: str, given: dict[str, Any]) -> Reply:
        return SAID.get(tool) or super()._call(caller, tool, given)


def stand_in() -> offering.Offer:
    """Put the stand-ins beside what we offer."""
    ours, read, get = offering.offer(WRITE), resources.read, prompts.get
    own = {name: Tool(name, name, name, NOTHING, {"type": "object"}) for name in SAID}
    for name, (_, given) in PROMPTS.items():
        asked = [{"name": one, "description": one, "required": True} for one in given]
        offers.PROMPTS.append({"name": name, "title": name, "description": name, "arguments": asked})

    def read_more(*args: Any) -> Reply:
        uri = args[-1]
        if uri == "test://static-text":
            return Reply({}, TEXT)
        if uri.startswith("test://template/"):
            id_ = uri.split("/")[3]
            return Reply({}, json.dumps({"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"}))
        return read(*args)

    def get_more(*args: Any) -> Reply:
        name, given = args[-2:]
        return Reply({}, PROMPTS[name][0].format(**given)) if name in PROMPTS else get(*args)

    resources.read, prompts.get = read_more, get_more
    return ours._replace(tools={**ours.tools, **own})


class Bearing:
    """Puts the token into every request, and leaves the rest as it came."""

    def __init__(self, app: serving.Application) -> None:
        self.app = app

    async def __call__(self, scope: serving.Message, receive: serving.Receive, send: serving.Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {TOKEN}".encode())]}
        await self.app(scope, receive, send)


def main(folder: str) -> None:
    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    place = serving.place_of(*listening.getsockname())
    service = StandingIn(Scope(folder, {}, folder), stand_in(), several=True)
    app: Any = Bearing(over_http.application(service, place, TOKEN))
    sys.stdout.write(f"http://localhost:{place.rpartition(':')[2]}/mcp\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none")).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
