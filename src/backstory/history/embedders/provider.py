"""Vectors from an OpenAI-compatible `/v1/embeddings` endpoint, where one is configured. Nothing else asks it.

The key comes from the environment variable that the settings name. It is held in memory only.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from backstory.errors import BackstoryError, Exit
from backstory.history.embedders.contract import Choice, Vector
from backstory.history.embedders.endpoint import Endpoint, Waiting, is_loopback, post

KEY_VARIABLE = "BACKSTORY_EMBEDDINGS_KEY"
_PATH = "/embeddings"
# Tokens of a text, on the safe side of OpenAI's vocabularies (`tests/history/test_embed_cost.py`): one a sign, one a
# word and another for each further 6 letters, one for 3 digits, 2.5 for any other character (Chinese in the
# older vocabulary), 3 beyond the first plane.
_TOKENS = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[!-/:-@\[-`{-~\n]")
_TOKENS_PER_OTHER, _TOKENS_PER_RARE = 2.5, 3


class Settings(NamedTuple):
    """What the project's settings say about the provider. `url` and `model` are needed, the rest has defaults."""

    url: str
    model: str
    dimensions: int = 0  # 0: as many as the model makes
    key_variable: str = KEY_VARIABLE
    dollars_per_million_tokens: float | None = None
    allow_cleartext: bool = False
    query_prefix: str = ""
    document_prefix: str = ""
    floor: float | None = None  # None: found out when the vectors are made
    batch_texts: int = 64
    batch_chars: int = 100_000
    timeout_seconds: float = 60.0


class Cost(NamedTuple):
    """What embedding some texts would take. Tokens are an upper estimate; dollars are None without a price."""

    texts: int
    tokens: int
    dollars: float | None


def provider(settings: Settings, environ: Mapping[str, str], waiting: Waiting | None = None) -> Choice:
    """The provider that the settings name. `BackstoryError` where they would send a key or text in the open."""
    return Choice(Provider(settings, _endpoint(settings, environ, waiting or Waiting())))


class Provider:
    """An `Embedder` that asks an endpoint."""

    def __init__(self, settings: Settings, endpoint: Endpoint) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self.model_id = _model_id(settings)
        self.dimensions = settings.dimensions
        self.batch = max(1, settings.batch_texts)
        self.floor = settings.floor

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        """As in the contract, in as many requests as the two batch sizes ask for."""
        return self._ask([self._settings.document_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> list[Vector[float]]:
        """As in the contract."""
        return self._ask([self._settings.query_prefix + text for text in texts])

    def estimate(self, texts: Sequence[str]) -> Cost:
        """What `embed` would take, without asking anybody."""
        prefix = _tokens(self._settings.document_prefix)
        tokens = sum(prefix + _tokens(text) for text in texts)
        price = self._settings.dollars_per_million_tokens
        return Cost(len(texts), tokens, None if price is None else tokens * price / 1e6)

    def _ask(self, texts: Sequence[str]) -> list[Vector[float]]:
        found: list[Vector[float]] = []
        for batch in _batches(texts, self.batch, self._settings.batch_chars):
            body: dict[str, object] = {"model": self._settings.model, "input": batch}
            if self._settings.dimensions:
                body["dimensions"] = self._settings.dimensions
            reply = post(self._endpoint, json.dumps(body).encode("utf-8"))
            found += self._checked(_rows(self._endpoint, reply, len(batch)))
        return found

    def _checked(self, rows: Sequence[Sequence[float]]) -> list[Vector[float]]:
        """Unit vectors of one size, which the first reply settles."""
        vectors = []
        for row in rows:
            if not self.dimensions:
                self.dimensions = len(row)
            if len(row) != self.dimensions or not row:
                raise _wrong(self._endpoint, f"vectors of {len(row)} numbers where {self.dimensions} are expected")
            length = math.sqrt(math.fsum(number * number for number in row))
            if not math.isfinite(length) or length == 0:
                raise _wrong(self._endpoint, "a vector without a direction (zero, infinite or not a number)")
            vectors.append(array("f", (number / length for number in row)))
        return vectors


def _endpoint(settings: Settings, environ: Mapping[str, str], waiting: Waiting) -> Endpoint:
    parts = _address(settings.url)
    if not settings.model:
        raise BackstoryError("The embeddings provider has no model.", hint="Set the name of the model.")
    if parts.scheme == "http" and not is_loopback(parts.hostname) and not settings.allow_cleartext:
        raise BackstoryError(
            f"Texts and key would go to {parts.hostname} in cleartext (http).",
            hint="Use https, or set `allow_cleartext` if the way there is safe.",
            code=Exit.REFUSED,
        )
    key = environ.get(settings.key_variable, "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise BackstoryError(
            f"The environment variable {settings.key_variable} does not hold a key: it has characters no key has.",
            hint="Set it anew, without line breaks and spaces.",
        )
    path = parts.path.rstrip("/")
    path = path if path.endswith(_PATH) else path + _PATH
    url = urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
    return Endpoint(url, key, settings.key_variable, settings.timeout_seconds, waiting)


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and not (parts.username or parts.password)
        if fits and (parts.port is None or parts.port) and url.isprintable() and " " not in url:
            return parts
    except ValueError:
        pass
    raise BackstoryError(
        "The address of the embeddings provider is not of the form https://HOST/v1.",
        hint="Set the base address without a name or a key in it; the key comes from the environment.",
    )


def _model_id(settings: Settings) -> str:
    """The model, and all that would make its vectors others. Not the address: a server may move."""
    parts = [settings.model]
    if settings.dimensions:
        parts.append(str(settings.dimensions))
    if settings.document_prefix or settings.query_prefix:
        parts.append(f"{settings.document_prefix!r} {settings.query_prefix!r}")
    return "/".join(parts)


def _tokens(text: str) -> int:
    count = len(_TOKENS.findall(text))
    if text.isascii():
        return count
    others = sum(char > "\x7f" for char in text)
    rare = sum(char > "\uffff" for char in text)
    return count + math.ceil(others * _TOKENS_PER_OTHER + rare * (_TOKENS_PER_RARE - _TOKENS_PER_OTHER))


def _batches(texts: Sequence[str], most: int, chars: int) -> Iterator[list[str]]:
    """The texts in their order, at most `most` and, unless one alone is longer, `chars` characters at once."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == most or size + len(text) > chars):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _rows(endpoint: Endpoint, reply: bytes, count: int) -> list[list[float]]:
    """The vectors of a reply in the order of the texts: servers may answer in another, and then say `index`."""
    try:
        data = json.loads(reply)["data"]
        rows = {item.get("index", place): [float(x) for x in item["embedding"]] for place, item in enumerate(data)}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise _wrong(endpoint, "what is no list of embeddings") from None
    if len(data) != count or set(rows) != set(range(count)):
        raise _wrong(endpoint, f"{len(data)} vectors for {count} texts")
    return [rows[place] for place in range(count)]


def _wrong(endpoint: Endpoint, what: str) -> BackstoryError:
    return BackstoryError(
        f"The embeddings provider {endpoint.shown} sends {what}.", hint="Check the address and the model."
    )
