"""A model of loopback: it answers with the next move of a script, and keeps what it was asked.

Speaks the Anthropic Messages API and the OpenAI Responses API as far as Claude Code and Codex use them, both as server
sent events. A request without tools (a title, a check of quota) gets a word and no move.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "All done."
# As a tool's name: the model says `text` instead of calling one.
SAYS = ""


class Model:
    """The server; `moves` are (tool, arguments), made one for each request, then it says that it is done.

    `apart` has the words of a sub-agent's task, and its moves: it works beside the others, in an order that nobody
    knows. `requests` are the bodies of the requests that it was asked to act on, in order, and `seen` is what `watch`
    gave when each of them came.
    """

    def __init__(
        self,
        moves: Sequence[tuple[str, dict[str, Any]]] = (),
        watch: Callable[[], str] = str,
        apart: tuple[str, Sequence[tuple[str, dict[str, Any]]]] = ("", ()),
    ) -> None:
        self.moves, self.requests = list(moves), list[dict[str, Any]]()
        self.marker, self.moves_apart = apart[0], list(apart[1])
        self.watch, self.seen = watch, list[str]()
        self.name = secrets.token_hex(6)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def texts(self) -> list[str]:
        """Each request as one text, to look for words in."""
        return [json.dumps(request, ensure_ascii=False) for request in self.requests]

    def _next(self, body: dict[str, Any]) -> tuple[int, tuple[str, dict[str, Any]] | None]:
        """The number of the request and the move that answers it; None for a word."""
        if not body.get("tools"):
            return 0, None
        with self._lock:
            self.requests.append(body)
            self.seen.append(self.watch())
            moves = self.moves_apart if self.marker and self.marker in _asked(body) else self.moves
            return len(self.requests), moves.pop(0) if moves else None

    def _handler(model) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                path = self.path.partition("?")[0]
                known: dict[str, Callable[..., Iterator[tuple[str, dict[str, Any]]]]]
                known = {"/v1/messages": messages, "/v1/responses": responses}
                if path not in known:
                    self._send(b'{"input_tokens": 1}' if path.endswith("count_tokens") else b"{}", "application/json")
                    return
                number, move = model._next(json.loads(raw))
                # An id means one thing for ever, whichever server gave it.
                events = known[path](f"{model.name}{number}", move)
                text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
                self._send(text.encode(), "text/event-stream")

            def do_GET(self) -> None:
                self._send(b'{"data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self._send(b"", "application/json")

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _asked(body: dict[str, Any]) -> str:
    """The texts that stand where a person speaks."""
    texts = []
    for message in body.get("messages", ()):
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        texts += [block["text"] for block in blocks if message.get("role") == "user" and block.get("type") == "text"]
    return "\n".join(map(str, texts))


def _said(move: tuple[str, dict[str, Any]] | None) -> str:
    """What the model says, "" where it calls a tool."""
    if move is None:
        return DONE
    return str(move[1]["text"]) if move[0] == SAYS else ""


def messages(number: str, move: tuple[str, dict[str, Any]] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """An answer of the Anthropic Messages API, as events."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "mock", "content": []}
    yield (
        "message_start",
        {
            "type": "message_start",
            "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
        },
    )
    said = _said(move)
    if move is None or said:
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": said}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": move[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(move[1])}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    why = "end_turn" if said else "tool_use"
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": why, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
    )
    yield "message_stop", {"type": "message_stop"}


def responses(number: str, move: tuple[str, dict[str, Any]] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """An answer of the OpenAI Responses API, as events. A move with the argument `input` alone is a custom tool."""
    head = {"id": f"resp_{number}", "object": "response", "model": "mock"}
    yield "response.created", {"type": "response.created", "response": {**head, "status": "in_progress"}}
    item: dict[str, Any]
    said = _said(move)
    if move is None or said:
        content = [{"type": "output_text", "text": said, "annotations": []}]
        item = {
            "type": "message",
            "id": f"item_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    elif list(move[1]) == ["input"]:
        item = {"type": "custom_tool_call", "call_id": f"call_{number}", "name": move[0], "input": move[1]["input"]}
    else:
        arguments = json.dumps(move[1])
        item = {"type": "function_call", "call_id": f"call_{number}", "name": move[0], "arguments": arguments}
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    done = {**head, "status": "completed", "output": [item], "usage": usage}
    yield "response.completed", {"type": "response.completed", "response": done}
