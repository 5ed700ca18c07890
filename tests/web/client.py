"""A browser without a window: asks the page as ASGI, keeps its cookie, and reads its HTML as a parser does."""

from __future__ import annotations

import asyncio
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import unquote, urlencode, urlsplit

from backstory.records.event import By
from backstory.surfaces.web.app import application

PLACE, TOKEN = "127.0.0.1:7338", "a-token-for-tests-only"
ORIGIN = f"http://{PLACE}"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def html(self) -> Html:
        """The page, parsed."""
        found = Html()
        found.feed(self.text)
        found.close()
        return found


class Html(HTMLParser):
    """All elements with their attributes, and all text that a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.forms: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        if tag == "form":
            self.forms.append((given.get("action", ""), {}))
        elif tag == "input" and self.forms and "name" in given:
            self.forms[-1][1][given["name"]] = given.get("value", "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def shown(self) -> str:
        """The text, in one line."""
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of every element of that name."""
        return [attrs for name, attrs in self.elements if name == tag]


class Client:
    """One visitor of the page of the project at `root`."""

    def __init__(self, root: str, by: By, *, token: str = TOKEN) -> None:
        self.app = application(root, by, PLACE, TOKEN)
        self.headers = {"host": PLACE, "cookie": f"{self.app.cookie}={token}"}

    def get(self, address: str, **headers: str) -> Answer:
        """Ask for an address; header names are written with `_`; "" leaves one out."""
        return self._send("GET", address, b"", headers)

    def post(self, address: str, fields: dict[str, str] | None = None, /, **headers: str) -> Answer:
        """Send a form as the page's own do: with its mark and its origin."""
        given = {"csrf": self.mark(), **(fields or {})}
        body = urlencode({name: value for name, value in given.items() if value is not None}).encode()
        usual = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}
        return self._send("POST", address, body, {**usual, **headers})

    def mark(self) -> str:
        """What every form carries."""
        return next(fields["csrf"] for _, fields in self.get("/doctor").html.forms if "csrf" in fields)

    def _send(self, method: str, address: str, body: bytes, headers: dict[str, str]) -> Answer:
        given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        parts = urlsplit(address)
        scope: dict[str, Any] = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http", "root_path": "",
            "path": unquote(parts.path), "raw_path": parts.path.encode(), "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items() if value],
            "server": ("127.0.0.1", 7338), "client": ("127.0.0.1", 50_000),
        }  # fmt: skip
        return asyncio.run(self._ask(scope, body))

    async def _ask(self, scope: dict[str, Any], body: bytes) -> Answer:
        came: list[dict[str, Any]] = []
        todo = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return todo.pop() if todo else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            came.append(message)

        await self.app(scope, receive, send)
        start = came[0]
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
        text = b"".join(message.get("body", b"") for message in came[1:]).decode("utf-8")
        return Answer(start["status"], headers, text)
