"""Answers the handshake while the SDK is being imported.

The import takes a second, and a client may give up before (Cline after 1.5 seconds). So the requests whose answers
are plain data, `initialize` or `server/discover`, `tools/list` and `ping`, are answered here, and replayed to the SDK
when it is there; its answers to them are dropped. A test holds both answers equal. Whatever is in the least unusual
waits for the SDK, and so does all that comes after it.
"""

from __future__ import annotations

import json
import os
import select
from typing import Any

from backstory import __version__
from backstory.surfaces.mcp.offering import Offer
from backstory.surfaces.mcp.streams import Outgoing

NAME, TITLE = "backstory", "backstory: the project's memory"
# The list depends on the role alone, which holds for the life of the process.
LIST_TTL_MS = 3_600_000
# As the SDK derives them from our handlers.
CAPABILITIES: dict[str, Any] = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
HANDSHAKE_VERSIONS = ("2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
_KEY = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES, _CLIENT = f"{_KEY}protocolVersion", f"{_KEY}clientCapabilities", f"{_KEY}clientInfo"
_LONGEST = 1 << 20


class Early:
    """The handshake of one connection. `ids` are the requests that were answered."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer
        self.ids: list[str | int] = []
        self.over = False
        self._era = ""

    def answer(self, line: bytes) -> str:
        """The answer to a message, with its line end; "" for one that gets none. Sets `over` when it is the SDK's."""
        if self.over:
            return ""
        try:
            message = json.loads(line)
            method, params = message["method"], message.get("params")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.over = True
            return ""
        id_ = message.get("id")
        if self._era == "handshake" and method == "notifications/initialized" and "id" not in message:
            return ""
        result = self._result(method, params) if _plain(message, id_) and id_ not in self.ids else None
        if result is None:
            self.over = True
            return ""
        self.ids.append(id_)
        message = {"jsonrpc": "2.0", "id": id_, "result": result}
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"

    def _result(self, method: str, params: Any) -> dict[str, Any] | None:
        if not self._era and method == "initialize" and _initializes(params):
            self._era = "handshake"
            return {**self._about(), "protocolVersion": params["protocolVersion"], "serverInfo": _server()}
        if self._era in ("", "modern") and method in ("server/discover", "tools/list") and _enveloped(params):
            self._era = "modern"
            result = self._discovered() if method == "server/discover" else self._listed()
            return {**result, "resultType": "complete", "_meta": {f"{_KEY}serverInfo": _server()}}
        if self._era == "handshake" and _empty(params):
            return {"tools/list": {"tools": self._tools()}, "ping": {}}.get(method)
        return None

    def _about(self) -> dict[str, Any]:
        return {"capabilities": CAPABILITIES, "instructions": self.offer.instructions}

    def _discovered(self) -> dict[str, Any]:
        return {**self._about(), "supportedVersions": [MODERN_VERSION], "ttlMs": 0, "cacheScope": "private"}

    def _listed(self) -> dict[str, Any]:
        return {"tools": self._tools(), "ttlMs": LIST_TTL_MS, "cacheScope": "public"}

    def _tools(self) -> list[dict[str, Any]]:
        return self.offer.listed()


def _server() -> dict[str, str]:
    return {"name": NAME, "title": TITLE, "version": __version__}


def _plain(message: dict[str, Any], id_: Any) -> bool:
    known = set(message) <= {"jsonrpc", "id", "method", "params"} and message.get("jsonrpc") == "2.0"
    return known and isinstance(id_, str | int) and not isinstance(id_, bool)


def _initializes(params: Any) -> bool:
    return (
        isinstance(params, dict)
        and set(params) == {"protocolVersion", "capabilities", "clientInfo"}
        and params["protocolVersion"] in HANDSHAKE_VERSIONS
        and _capable(params["capabilities"])
        and _names_a_client(params["clientInfo"])
    )


def _enveloped(params: Any) -> bool:
    if not isinstance(params, dict) or set(params) != {"_meta"} or not isinstance(params["_meta"], dict):
        return False
    meta = params["_meta"]
    return (
        set(meta) <= {_VERSION, _CAPABILITIES, _CLIENT, "progressToken"}
        and _counts(meta.get("progressToken", 0))
        and meta.get(_VERSION) == MODERN_VERSION
        and _capable(meta.get(_CAPABILITIES))
        and (_CLIENT not in meta or _names_a_client(meta[_CLIENT]))
    )


def _empty(params: Any) -> bool:
    """Nothing, or a progress token, which these answers have no use for."""
    if params is None:
        return True
    if not isinstance(params, dict) or not set(params) <= {"_meta"}:
        return False
    meta = params.get("_meta", {})
    return isinstance(meta, dict) and set(meta) <= {"progressToken"} and _counts(meta.get("progressToken", 0))


def _counts(token: Any) -> bool:
    return isinstance(token, str | int) and not isinstance(token, bool)


def _capable(capabilities: Any) -> bool:
    """Objects of objects and switches, under the names that the protocol has for them."""
    known = {"roots", "sampling", "elicitation", "experimental", "extensions", "tasks"}
    return isinstance(capabilities, dict) and set(capabilities) <= known and _switches(capabilities, 4)


def _switches(value: Any, depth: int) -> bool:
    return isinstance(value, dict) and all(
        isinstance(item, bool) or (depth > 0 and _switches(item, depth - 1)) for item in value.values()
    )


def _names_a_client(info: Any) -> bool:
    return (
        isinstance(info, dict) and {"name", "version"} <= set(info) and all(isinstance(v, str) for v in info.values())
    )


def serve(early: Early, source: int, wire: Outgoing, ready: int) -> bytes:
    """Answer what can be answered until something can be read from `ready`; all that was read from `source`."""
    read, line = b"", b""
    while not early.over and len(line) < _LONGEST:
        readable = select.select([source, ready], [], [])[0]
        if source not in readable:
            break
        block = os.read(source, 1 << 16)
        read += block
        if not block:
            break
        *lines, line = (line + block).split(b"\n")
        for message in lines:
            answer = early.answer(message)
            if answer:
                wire.write(answer)
                wire.flush()
    wire.drop(early.ids)
    return read
