"""A small real embeddings endpoint on loopback, which does what a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from backstory.history.embedders.endpoint import Waiting
from backstory.history.embedders.provider import Provider, Settings, provider

KEY = "sk-a-secret-nobody-should-see"
Answer = tuple[int, dict[str, str], bytes]


class Server:
    """Answers in turn with `answers`, and when they are used up with vectors of three numbers."""

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[dict[str, Any]], Answer] | None] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.slept: list[float] = []
        self.url = ""

    def ask(self, **changes: Any) -> Provider:
        """A provider that asks this server, and waits without waiting."""
        settings = Settings(**{"url": self.url, "model": "m", "timeout_seconds": 5.0, **changes})
        waiting = Waiting(self.slept.append, lambda: 1.0, lambda: 1_000_000_000.0)
        choice = provider(settings, {"BACKSTORY_EMBEDDINGS_KEY": KEY}, waiting)
        assert isinstance(choice.embedder, Provider)
        return choice.embedder


def vectors(*rows: Any, **more: Any) -> Answer:
    data = [{"index": place, "embedding": row, **more} for place, row in enumerate(rows)]
    return 200, {}, json.dumps({"data": data}).encode()


def of_each_text(body: dict[str, Any]) -> Answer:
    """A vector that tells the texts apart: by length and by first letter."""
    return vectors(*([float(len(text)), float(ord((text or " ")[0])), 1.0] for text in body["input"]))


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            server.paths.append(self.path)
            answer = server.answers.pop(0) if server.answers else of_each_text
            if answer is None:  # hang up
                self.close_connection = True
                return
            status, headers, data = answer(body) if callable(answer) else answer
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            server.headers.append(dict(self.headers))
            server.paths.append("GET " + self.path)
            self.send_error(405)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listening.server_port}/v1"
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
