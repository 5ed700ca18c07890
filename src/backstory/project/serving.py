"""Serving on this machine alone: the address, the token, the socket. What the server over HTTP and the page share.

Promises: only a loopback address is ever listened on; a token is random, or was given in the environment and is long
enough; an address that is taken is said in one sentence.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from backstory.errors import BackstoryError, Exit

HOST = "127.0.0.1"
_SHORTEST_TOKEN, _GRACE_SECONDS = 16, 2

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


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


def token_of(env: Mapping[str, str], name: str) -> tuple[str, bool]:
    """The token, and whether it was given in `env` under `name`."""
    given = env.get(name, "")
    if not given:
        import secrets

        return secrets.token_urlsafe(32), False
    if len(given) < _SHORTEST_TOKEN or not given.isascii() or not given.isprintable() or " " in given:
        raise BackstoryError(
            f"The token in {name} is no good: it needs {_SHORTEST_TOKEN} or more plain characters without spaces.",
            hint=f"Unset {name} to have one made, or set it to the output of `openssl rand -hex 32`.",
            code=Exit.REFUSED,
        )
    return given, True


def place_of(address: str, port: int) -> str:
    """`address:port` as a Host header has it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def listen(address: str, port: int) -> socket.socket:
    """A socket that listens; `BackstoryError` for a port that is taken."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # The protocol by its name: asyncio sets TCP_NODELAY only then, and without it every answer waits 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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


def serve(app: Application, listening: socket.socket) -> None:
    """Answer requests until interrupted."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        return


def hosts_of(place: str) -> list[str]:
    """The values that the Host header of a request to `place` may have."""
    return list(dict.fromkeys([place, f"localhost:{place.rpartition(':')[2]}"]))
