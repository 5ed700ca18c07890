"""An embeddings provider: what it is sent, what is made of its answers, and that the key goes nowhere else."""

import json
import logging
import math
import socket
import ssl
from collections.abc import Iterator
from email.utils import formatdate

import pytest

from backstory.errors import BackstoryError, Exit
from backstory.history.embedders import endpoint
from backstory.history.embedders.endpoint import TRIES
from backstory.history.embedders.provider import Cost, Settings, provider
from tests.history.embedding_server import KEY, Server, of_each_text, serving, vectors

LIMIT = (429, {}, b'{"error": {"message": "slow down"}}')


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def fails(server: Server, texts: list[str] | None = None, **changes: object) -> BackstoryError:
    with pytest.raises(BackstoryError) as caught:
        server.ask(**changes).embed(texts or ["a"])
    said = f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert KEY not in said and server.url.split("//")[1] in said
    return caught.value


def test_texts_become_vectors_of_unit_length_in_their_order(server: Server) -> None:
    found = server.ask().embed(["bb", "a"])
    assert [round(math.hypot(*vector), 6) for vector in found] == [1.0, 1.0]
    assert [vector[0] / vector[2] for vector in found] == pytest.approx([2.0, 1.0])
    assert server.paths == ["/v1/embeddings"] and server.bodies == [{"model": "m", "input": ["bb", "a"]}]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_an_answer_in_another_order_is_put_right(server: Server) -> None:
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]
    server.answers.append((200, {}, json.dumps({"data": data}).encode()))
    assert [list(vector) for vector in server.ask().embed(["a", "b"])] == [[1, 0], [0, 1]]


def test_requests_are_cut_by_number_and_by_characters(server: Server) -> None:
    server.ask(batch_texts=2).embed(["a", "b", "c"])
    assert [body["input"] for body in server.bodies] == [["a", "b"], ["c"]]
    server.bodies.clear()
    server.ask(batch_chars=5).embed(["aaa", "bbb", "cc", "d" * 9, "e"])
    assert [body["input"] for body in server.bodies] == [["aaa"], ["bbb", "cc"], ["d" * 9], ["e"]]


def test_prefixes_and_dimensions_are_sent_where_they_are_set_and_belong_to_the_model(server: Server) -> None:
    asked = server.ask(query_prefix="query: ", document_prefix="passage: ", dimensions=3)
    asked.embed(["a"])
    asked.embed_queries(["b"])
    assert [body["input"] for body in server.bodies] == [["passage: a"], ["query: b"]]
    assert server.bodies[0]["dimensions"] == 3
    names = {
        server.ask(**changes).model_id for changes in ({}, {"dimensions": 3}, {"query_prefix": "q"}, {"model": "n"})
    }
    assert len(names) == 4 and server.ask().model_id == server.ask(batch_texts=1).model_id


def test_no_key_is_sent_where_none_is_set(server: Server) -> None:
    choice = provider(Settings(server.url, "m", key_variable="OTHER"), {"BACKSTORY_EMBEDDINGS_KEY": KEY})
    assert choice.embedder is not None and choice.embedder.embed(["a"])
    assert "Authorization" not in server.headers[0]
    assert fails_with_status(server, 401).message.endswith("refuses the key (401).")
    server.answers.append((401, {}, b""))
    with pytest.raises(BackstoryError, match="wants a key") as caught:
        choice.embedder.embed(["a"])
    assert "OTHER" in caught.value.hint


def fails_with_status(server: Server, status: int, body: bytes = b"", **headers: str) -> BackstoryError:
    server.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, body))
    return fails(server)


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "refuses the key"), (403, "refuses the key"), (404, "knows no such address or model"), (400, "answers 400")],
)
def test_what_trying_again_cannot_help_is_said_at_once_and_what_the_server_says_never_shows_the_key(
    server: Server, status: int, words: str
) -> None:
    error = fails_with_status(server, status, f'{{"error": "bad key {KEY}\x1b[31m"}}'.encode())
    assert words in error.message and str(status) in error.message and "\x1b" not in error.message
    assert len(server.bodies) == 1 and server.slept == []
    assert ("bad key ***" in error.message) == (status in (400, 404))


def test_a_limit_is_waited_for_longer_each_time_and_as_long_as_the_server_asks(server: Server) -> None:
    later = formatdate(1_000_000_090, usegmt=True)
    server.answers += [LIMIT, (503, {"Retry-After": "7"}, b""), LIMIT, (500, {"Retry-After": later}, b"")]
    assert len(server.ask().embed(["a"])) == 1
    assert server.slept == [1.0, 7.0, 4.0, 90.0]


def test_jitter_shortens_a_wait_by_half_at_most(server: Server) -> None:
    server.answers += [LIMIT, LIMIT]
    asked = server.ask()
    asked._endpoint = asked._endpoint._replace(waiting=asked._endpoint.waiting._replace(jitter=lambda: 0.0))
    asked.embed(["a"])
    assert server.slept == [0.5, 1.0]


def test_it_gives_up_after_some_tries_and_at_once_when_asked_to_wait_for_long(server: Server) -> None:
    server.answers += [LIMIT] * TRIES
    assert "answers 429: " in fails(server).message
    assert len(server.bodies) == TRIES and len(server.slept) == TRIES - 1
    server.bodies.clear()
    assert "429" in fails_with_status(server, 429, Retry_After="3600").message
    assert len(server.bodies) == 1


def test_a_used_up_quota_is_not_waited_for(server: Server) -> None:
    error = fails_with_status(server, 429, b'{"error": {"code": "insufficient_quota"}}')
    assert "quota is used up" in error.message and server.slept == []


def test_a_broken_connection_is_tried_again_and_a_closed_port_is_not(server: Server) -> None:
    server.answers += [None, None]
    assert len(server.ask().embed(["a"])) == 1 and len(server.slept) == 2
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server.slept.clear()
    with pytest.raises(BackstoryError, match="cannot be reached"):
        server.ask(url=f"http://127.0.0.1:{port}/v1").embed(["a"])
    assert server.slept == []


def test_a_server_that_does_not_answer_is_asked_again_and_named_in_the_end(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(BackstoryError, match=r"did not answer within 0\.05 seconds"):
            server.ask(url=url, timeout_seconds=0.05).embed(["a"])
    assert len(server.slept) == TRIES - 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>", "no list of embeddings"),
        (b'{"object": "list"}', "no list of embeddings"),
        (b'{"data": [{"embedding": "AAAA"}]}', "no list of embeddings"),
        (b'{"data": [{"embedding": [1, null]}]}', "no list of embeddings"),
        (b"[" * 100_000, "no list of embeddings"),
        (b'{"data": []}', "0 vectors for 1 texts"),
        (b'{"data": [{"embedding": [1]}, {"embedding": [1]}]}', "2 vectors for 1 texts"),
        (b'{"data": [{"index": 7, "embedding": [1]}]}', "1 vectors for 1 texts"),
        (b'{"data": [{"embedding": [1, NaN]}]}', "without a direction"),
        (b'{"data": [{"embedding": [1, 1e999]}]}', "without a direction"),
        (b'{"data": [{"embedding": [0, 0]}]}', "without a direction"),
        (b'{"data": [{"embedding": []}]}', "vectors of 0 numbers"),
    ],
)
def test_what_is_no_answer_is_refused_with_the_reason(server: Server, body: bytes, words: str) -> None:
    server.answers.append((200, {}, body))
    assert words in fails(server).message
    server.answers.append(vectors([3, 4]))
    assert list(server.ask().embed(["a"])[0]) == pytest.approx([0.6, 0.8])


def test_vectors_of_another_size_than_before_are_refused(server: Server) -> None:
    asked = server.ask()
    server.answers += [vectors([1, 0]), vectors([1, 0, 0])]
    asked.embed(["a"])
    with pytest.raises(BackstoryError, match="vectors of 3 numbers where 2 are expected"):
        asked.embed(["b"])
    assert asked.dimensions == 2


def test_a_redirect_is_not_followed_so_that_the_key_stays_where_it_was_sent(server: Server) -> None:
    with serving() as other:
        for status in (301, 302, 303, 307, 308):
            error = fails_with_status(server, status, Location=f"{other.url}/embeddings")
            assert "redirects elsewhere" in error.message
        assert other.headers == []
        assert other.ask().embed(["a"]) and len(other.headers) == 1


def test_loopback_is_not_asked_through_a_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        server.ask().embed(["a"])
        assert len(server.headers) == 1 and proxy.headers == []


@pytest.mark.parametrize(
    "url",
    ["", "api.example.org/v1", "ftp://h/v1", "file:///etc/passwd", "https://u:p@h/v1", "http://h:x/v1", "http://a b/"],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BackstoryError, match="not of the form https"):
        provider(Settings(url, "m"), {})
    assert provider(Settings("https://api.example.org/v1", "m"), {}).embedder


def test_cleartext_is_refused_but_to_loopback_or_where_it_is_allowed() -> None:
    for host in ("api.example.org", "10.0.0.7", "127.evil.example.org", "localhost.example.org"):
        with pytest.raises(BackstoryError, match="in cleartext") as caught:
            provider(Settings(f"http://{host}/v1", "m"), {})
        assert caught.value.code == Exit.REFUSED
        assert provider(Settings(f"http://{host}/v1", "m", allow_cleartext=True), {}).embedder
    for host in ("localhost:1", "127.0.0.1", "127.8.8.8", "[::1]:8000"):
        assert provider(Settings(f"http://{host}/v1", "m"), {}).embedder


def test_a_key_that_could_break_a_header_is_refused_without_being_shown() -> None:
    for key in ("sk-secret\nHost: evil", "sk secret", "sk-sécret"):
        with pytest.raises(BackstoryError, match="does not hold a key") as caught:
            provider(Settings("https://h/v1", "m"), {"BACKSTORY_EMBEDDINGS_KEY": key})
        assert "cret" not in str(caught.value) + caught.value.hint
    assert provider(Settings("https://h/v1", "m"), {"BACKSTORY_EMBEDDINGS_KEY": " sk-fine\n"}).embedder


def test_the_key_is_in_no_representation_and_no_log(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asked = server.ask()
    asked.embed(["a"])
    assert KEY in server.headers[0]["Authorization"]
    shown = [repr(asked), str(asked), repr(asked._endpoint), str(asked._endpoint), caplog.text]
    assert not [text for text in shown if KEY in text]


def test_a_query_in_the_address_is_sent_and_not_shown(server: Server) -> None:
    url = f"{server.url}?api-version=3"
    server.ask(url=url).embed(["a"])
    assert server.paths == ["/v1/embeddings?api-version=3"]
    server.answers.append((404, {}, b""))
    assert "api-version" not in fails(server, url=url).message


def test_a_cost_is_estimated_without_asking(server: Server) -> None:
    priced = server.ask(dollars_per_million_tokens=20.0, document_prefix="abc")
    assert priced.estimate(["abcdef", "ü"]) == Cost(2, 6, pytest.approx(6 * 20 / 1e6))
    assert server.ask().estimate(["abc"]) == Cost(1, 1, None)
    assert priced.estimate([]) == Cost(0, 0, 0.0)
    assert server.bodies == []


def test_the_test_server_tells_texts_apart() -> None:
    assert of_each_text({"input": ["a"]}) != of_each_text({"input": ["b"]})


def test_an_answer_without_end_is_not_read_to_its_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_MAX_REPLY_BYTES", 100)
    assert server.ask().embed(["a"])
    server.answers.append((200, {}, b" " * 101))
    assert "sent more than" in fails(server).message


def test_a_certificate_that_is_not_trusted_is_named(server: Server) -> None:
    asked = server.ask()._endpoint
    error = endpoint._unreached(asked, ssl.SSLCertVerificationError("self-signed"))
    assert isinstance(error, BackstoryError) and "certificate that is not trusted" in error.message
    assert not isinstance(endpoint._unreached(asked, ConnectionResetError()), BackstoryError)


def test_without_a_model_there_is_nothing_to_ask() -> None:
    with pytest.raises(BackstoryError, match="has no model"):
        provider(Settings("https://h/v1", ""), {})
