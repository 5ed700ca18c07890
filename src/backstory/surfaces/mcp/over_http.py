"""The MCP server over streamable HTTP, for clients that cannot start a process: on this machine only.

Promises: it listens on a loopback address and on no other; a request without the token is answered with 401 before
anything reads it; a request whose Host or Origin is not this server's own is refused, so that no page in a browser can
reach it by a name that it made point here. The token is random and shown once, or given in `BACKSTORY_MCP_TOKEN`.
"""

from __future__ import annotations

import hmac
import os
import sys

from backstory.project import serving
from backstory.surfaces.mcp import offering
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.server import cwd
from backstory.surfaces.mcp.service import Service

HOST, PORT, PATH = serving.HOST, 7337, "/mcp"
TOKEN = "BACKSTORY_MCP_TOKEN"
_MAX_SESSIONS = 100


def run(start: str, role: str, which: str, host: str = HOST, port: int = PORT) -> None:
    """Serve until interrupted. `port` 0 takes a free one; stderr says which.

    `BackstoryError` for an address that is not this machine's own, a port that is taken, and a token that is too short.
    """
    address = serving.loopback(host)
    token, own = serving.token_of(os.environ, TOKEN)
    listening = serving.listen(address, port)
    place = serving.place_of(address, listening.getsockname()[1])
    service = Service(Scope(start, {}, cwd()), offering.offer(role, which), several=True)
    _announce(service, place, "" if own else token)
    serving.serve(application(service, place, token), listening)


def application(service: Service, place: str, token: str) -> Guard:
    """The ASGI application that listens at `place`."""
    from mcp.server.transport_security import TransportSecuritySettings

    hosts = serving.hosts_of(place)
    settings = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts], enable_dns_rebinding_protection=True
    )
    app = service.server().streamable_http_app(
        streamable_http_path=PATH, transport_security=settings, max_sessions=_MAX_SESSIONS
    )
    return Guard(app, token)


class Guard:
    """Lets through to `app` what carries the token; all else gets 401 and one sentence."""

    def __init__(self, app: serving.Application, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: serving.Message, receive: serving.Receive, send: serving.Send) -> None:
        """As ASGI calls an application."""
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._carries(scope["headers"])):
            await self._app(scope, receive, send)
            return
        body = b"This server needs the token that it showed when it was started: Authorization: Bearer TOKEN\n"
        headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _carries(self, headers: list[tuple[bytes, bytes]]) -> bool:
        given = [value for name, value in headers if name.lower() == b"authorization"]
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return hmac.compare_digest(scheme.title() + b" " + token.strip(), self._expected)


def _announce(service: Service, place: str, token: str) -> None:
    bound = service.scope.bound()
    what = f"the memory of {bound.name} ({bound.root})" if bound else "any project, named in each call by project_path,"
    lines = [f"serving {what} with the {service.offer.role} role at http://{place}{PATH}; Ctrl-C ends it"]
    lines += [f"token, shown once: {token}"] if token else [f"token: the one in {TOKEN}"]
    for line in lines:
        sys.stderr.write(f"backstory: {line}\n")
    sys.stderr.flush()
