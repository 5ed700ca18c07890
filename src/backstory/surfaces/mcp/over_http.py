"""The MCP server over streamable HTTP, for clients that cannot start a process: on this machine only.

Promises: it listens on a loopback address and on no other; a request without the token is answered with 401 before
anything reads it; a request whose Host or Origin is not this server's own is refused, so that no page in a browser can
reach it by a name that it made point here. The token is random and shown once, or given in `BACKSTORY_MCP_TOKEN`.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from backstory.errors import BackstoryError, Exit
from backstory.surfaces.mcp import offering
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.server import cwd
from backstory.surfaces.mcp.service import Service

HOST, PORT, PATH = "127.0.0.1", 7337, "/mcp"
TOKEN = "BACKSTORY_MCP_TOKEN"
_SHORTEST_TOKEN, _MAX_SESSIONS, _GRACE_SECONDS = 16, 100, 2

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


def run(start: str, role: str, which: str, host: str = HOST, port: int = PORT) -> None:
    """Serve until interrupted. `port` 0 takes a free one; stderr says which.

    `BackstoryError` for an address that is not this machine's own, a port that is taken, and a token that is too short.
    """
    address = loopback(host)
    token, own = token_of(os.environ)
    listening = _listen(address, port)
    place = place_of(address, listening.getsockname()[1])
    service = Service(Scope(start, {}, cwd()), offering.offer(role, which), several=True)
    _announce(service, place, "" if own else token)
    try:
        _serve(application(service, place, token), listening)
    except KeyboardInterrupt:
        return


def loopback(host: str) -> str:
    """The address that `host` means; `BackstoryError` for any that others can reach."""
    text = "127.0.0.1" if host.lower() == "localhost" else host.strip("[]")
    try:
        inside = ipaddress.ip_address(text).is_loopback
    except ValueError:
        inside = False
    if not inside:
        raise BackstoryError(
            f"The memory is not served on {host[:100]!r}: other machines could reach it there.",
            hint=f"Leave `--host` out, or give a loopback address: `--host {HOST}`.",
            code=Exit.REFUSED,
        )
    return text


def token_of(env: Mapping[str, str]) -> tuple[str, bool]:
    """The token, and whether it was given in `env`."""
    given = env.get(TOKEN, "")
    if not given:
        import secrets

        return secrets.token_urlsafe(32), False
    if len(given) < _SHORTEST_TOKEN or not given.isascii() or not given.isprintable() or " " in given:
        raise BackstoryError(
            f"The token in {TOKEN} is no good: it needs {_SHORTEST_TOKEN} or more plain characters without spaces.",
            hint=f"Unset {TOKEN} to have one made, or set it to the output of `openssl rand -hex 32`.",
            code=Exit.REFUSED,
        )
    return given, True


def place_of(address: str, port: int) -> str:
    """`address:port` as a Host header has it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def application(service: Service, place: str, token: str) -> Guard:
    """The ASGI application that listens at `place`."""
    from mcp.server.transport_security import TransportSecuritySettings

    port = place.rpartition(":")[2]
    hosts = list(dict.fromkeys([place, f"localhost:{port}"]))
    settings = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts], enable_dns_rebinding_protection=True
    )
    app = service.server().streamable_http_app(
        streamable_http_path=PATH, transport_security=settings, max_sessions=_MAX_SESSIONS
    )
    return Guard(app, token)


class Guard:
    """Lets through to `app` what carries the token; all else gets 401 and one sentence."""

    def __init__(self, app: Application, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
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


def _listen(address: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    if os.name == "posix":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        # Whoever reads the address may call at once, while the SDK is being imported.
        listening.listen()
    except OSError as error:
        listening.close()
        raise BackstoryError(
            f"Port {port} of {address} cannot be had ({error.strerror or error}).",
            hint="Another server may run there: end it, or take a free port with `--port 0`.",
            code=Exit.REFUSED,
        ) from error
    return listening


def _announce(service: Service, place: str, token: str) -> None:
    bound = service.scope.bound()
    what = f"the memory of {bound.name} ({bound.root})" if bound else "any project, named in each call by project_path,"
    lines = [f"serving {what} with the {service.offer.role} role at http://{place}{PATH}; Ctrl-C ends it"]
    lines += [f"token, shown once: {token}"] if token else [f"token: the one in {TOKEN}"]
    for line in lines:
        sys.stderr.write(f"backstory: {line}\n")
    sys.stderr.flush()


def _serve(app: Guard, listening: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])
