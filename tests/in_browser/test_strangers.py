"""What another origin, another name of this machine, and a visitor without the token get: nothing."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.in_browser.conftest import Page
from tests.project.memory import HOOK, Memory

Serve = Callable[[Memory], Page]


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The origin of another page on this machine."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Elsewhere</title><body>elsewhere")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def candidate(memory: Memory) -> str:
    return memory.add("decision", "Candidate that nobody else may judge", HOOK)


def test_another_origin_reads_frames_and_changes_nothing(
    memory: Memory, candidate: str, serve: Serve, elsewhere: str
) -> None:
    page = serve(memory)
    tab = page.visit("/review")
    own = tab.evaluate("fetch('/review').then((answer) => answer.text())")
    assert "nobody else may judge" in own
    # The same browser, which holds the cookie, on a page of somebody else.
    tab.goto(elsewhere)
    for how in ("{}", "{credentials: 'include'}", "{credentials: 'include', mode: 'no-cors'}"):
        script = f"fetch('{page.origin}/review', {how}).then((a) => a.text(), (e) => 'refused: ' + e)"
        got = tab.evaluate(script)
        assert "nobody" not in got and (got.startswith("refused") or got == ""), how
    tab.evaluate(
        f"new Promise((done) => {{ const frame = document.createElement('iframe'); frame.src = '{page.origin}/review';"
        " frame.onload = frame.onerror = done; document.body.append(frame); })"
    )
    assert not any("nobody" in (frame.evaluate("document.body.innerText") or "") for frame in tab.frames)
    for address in (f"/review/{candidate}/approve", f"/entry/{candidate}/reject"):
        tab.goto(elsewhere)
        with tab.expect_navigation():
            tab.evaluate(
                f"const form = document.createElement('form'); form.action = '{page.origin}{address}';"
                " form.method = 'post'; form.innerHTML = '<input name=csrf value=guess><input name=reason value=x>';"
                " document.body.append(form); form.submit()"
            )
        assert "nobody else may judge" not in tab.inner_text("body")
    entry = json.loads(page.run("show", candidate, "--json"))["data"]
    assert '"standing": "proposed"' in json.dumps(entry)


def test_a_link_from_elsewhere_with_the_token_is_a_visit_and_one_without_is_none(
    memory: Memory, candidate: str, serve: Serve, elsewhere: str
) -> None:
    page = serve(memory)
    stranger = page.browser.new_context().new_page()
    answer = stranger.goto(f"{page.origin}/review")
    assert answer.status == 401 and "nobody" not in stranger.inner_text("body")
    stranger.goto(f"{page.origin}/?token={'x' * len(page.token)}")
    assert "nobody" not in stranger.inner_text("body")
    assert stranger.goto(f"{page.origin}/review").status == 401
    assert page.visit("/review").inner_text("article").count("nobody else may judge") >= 1


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1.evil.example:{port}"])
def test_another_name_of_this_machine_gets_nothing_even_with_the_token(
    memory: Memory, candidate: str, serve: Serve, host: str
) -> None:
    page = serve(memory)
    cookie = {"Cookie": f"backstory_{page.port}={page.token}"}
    for name, told in ((host.format(port=page.port), False), (f"127.0.0.1:{page.port}", True)):
        link = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
        link.request("GET", "/review", headers={**cookie, "Host": name})
        answer = link.getresponse()
        text = answer.read().decode()
        assert ("nobody else may judge" in text) == told and (answer.status == 200) == told, name
        link.close()
