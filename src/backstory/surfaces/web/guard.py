"""What stands before every request to the page.

Promises: a request with a Host that is not this server's own, or an Origin that is another's, is refused; one without
the token gets 401 and nothing of the memory; a change needs the Origin of this page and its form token besides. Every
answer carries headers that keep scripts, frames and requests of others out.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import parse_qsl

from backstory.project.serving import Application, Message, Receive, Send, hosts_of

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
     b" connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # With `no-referrer` a browser sends `Origin: null` with forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)  # fmt: skip
MOST_BYTES = 64 * 1024
_READING = ("GET", "HEAD")


class Guard:
    """Lets through to `app` what comes from this page and carries the token."""

    def __init__(self, app: Application, place: str, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {host.encode() for host in hosts_of(place)}
        self._origins = {b"http://" + host for host in self._hosts}
        # Cookies do not tell ports apart.
        self.cookie = f"backstory_{place.rpartition(':')[2]}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """As ASGI calls an application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        refused = self._refused(scope)
        if refused:
            await _plain(send, *refused)
        elif self._opens(scope):
            await self._open(scope, send)
        elif not self._carries(scope):
            await _plain(send, 401, "Open the address that `backstory web` printed; it holds the token of this page.")
        else:
            await self._app(scope, receive, send)

    def _refused(self, scope: Message) -> tuple[int, str] | None:
        host = _values(scope, b"host")
        if len(host) != 1 or host[0] not in self._hosts:
            return 421, "This page answers to its own address only."
        origins = _values(scope, b"origin")
        if any(origin not in self._origins for origin in origins):
            return 403, "This page takes no request from another."
        # A link from elsewhere may open the page; anything else from elsewhere may not.
        site, mode = _values(scope, b"sec-fetch-site"), _values(scope, b"sec-fetch-mode")
        if site and site[0] in (b"cross-site", b"same-site") and mode != [b"navigate"]:
            return 403, "This page takes no request from another."
        if scope["method"] not in _READING and not origins:
            return 403, "A change must come from the page itself."
        return None

    def _opens(self, scope: Message) -> bool:
        """Whether it is the first visit, with the token in the address."""
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        return scope["method"] == "GET" and bool(given) and hmac.compare_digest(given.encode(), self._token.encode())

    async def _open(self, scope: Message, send: Send) -> None:
        """Keep the token in a cookie and go on without it in the address.

        By a page, not a redirect: the cookie of a strict site does not follow a redirect that began elsewhere.
        """
        body = (
            b'<!doctype html><html lang="en"><title>backstory</title><meta http-equiv="refresh" content="0; url=/">'
            b'<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
            b'<p><a href="/">Open the memory</a></p></html>'
        )
        cookie = f"{self.cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/".encode("latin-1")
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", cookie)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _carries(self, scope: Message) -> bool:
        expected = self._token.encode()
        for header in _values(scope, b"cookie"):
            for part in header.split(b";"):
                name, _, value = part.strip().partition(b"=")
                if name == self.cookie.encode() and hmac.compare_digest(value, expected):
                    return True
        return False


def form_token(token: str) -> str:
    """What every form of the page carries: made of the token, which it does not tell."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def _values(scope: Message, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key.lower() == name]


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
        await send(message)

    return sending


async def _plain(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
