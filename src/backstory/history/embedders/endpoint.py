"""One POST to an embeddings endpoint, tried again where that can help. Knows nothing of vectors.

Promises: the key goes to the configured address and nowhere else (no redirect is followed, loopback is never reached
through a proxy), and stands in no message: not even a server's own words about it are repeated.
"""

from __future__ import annotations

import http.client
import random
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from backstory.errors import BackstoryError, Exit

TRIES = 6
_FIRST_DELAY_SECONDS, _LONGEST_DELAY_SECONDS = 1.0, 60.0
# A server that wants to be left alone longer is reported, not waited for.
_LONGEST_ASKED_SECONDS = 120.0
_MAX_REPLY_BYTES = 256 << 20
_MAX_SAID = 200
_AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


class Waiting(NamedTuple):
    """How to wait between tries: the tests pass their own."""

    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    now: Callable[[], float] = time.time


class Endpoint(NamedTuple):
    """Where to post: the full address, the key ('' for none) and the name of the variable that it came from."""

    url: str
    key: str
    key_variable: str
    timeout_seconds: float
    waiting: Waiting = Waiting()

    def __repr__(self) -> str:
        return f"Endpoint({self.shown})"

    @property
    def shown(self) -> str:
        """The address without what may be secret in it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"


class _Again(Exception):
    """A failure that may pass."""

    def __init__(self, why: str, asked_seconds: float = 0.0) -> None:
        super().__init__(why)
        self.why = why
        self.asked_seconds = asked_seconds


def is_loopback(host: str | None) -> bool:
    """Whether what is sent there stays on this machine."""
    return host in _LOOPBACK or bool(host and host.startswith("127.") and host.replace(".", "").isdigit())


def post(endpoint: Endpoint, body: bytes) -> bytes:
    """The reply to `body`. `BackstoryError` when there is none: at once where trying again is no use, else after 6."""
    opener = _opener(endpoint)
    for attempt in range(TRIES):
        try:
            return _once(opener, endpoint, body)
        except _Again as exc:
            delay = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2**attempt)
            delay = max(delay * (0.5 + endpoint.waiting.jitter() / 2), exc.asked_seconds)
            if attempt + 1 == TRIES or exc.asked_seconds > _LONGEST_ASKED_SECONDS:
                raise _failed(endpoint, exc.why, "Try again later: what is done so far is kept.") from None
        endpoint.waiting.sleep(delay)
    raise AssertionError("unreachable")


def _once(opener: urllib.request.OpenerDirector, endpoint: Endpoint, body: bytes) -> bytes:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "backstory"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    request = urllib.request.Request(endpoint.url, body, headers, method="POST")
    try:
        with opener.open(request, timeout=endpoint.timeout_seconds) as reply:
            data: bytes = reply.read(_MAX_REPLY_BYTES + 1)
    except urllib.error.HTTPError as exc:
        with exc:
            raise _refusal(endpoint, exc) from None
    except TimeoutError:
        raise _Again(f"did not answer within {endpoint.timeout_seconds:g} seconds") from None
    except urllib.error.URLError as exc:
        raise _unreached(endpoint, exc.reason) from None
    except (ConnectionError, http.client.HTTPException) as exc:
        raise _Again(f"broke the connection ({type(exc).__name__})") from None
    if len(data) > _MAX_REPLY_BYTES:
        raise _failed(endpoint, "sent more than 256 MB", "Ask it for fewer texts at once: lower `batch_texts`.")
    return data


def _unreached(endpoint: Endpoint, reason: object) -> Exception:
    if isinstance(reason, TimeoutError):
        return _Again(f"did not answer within {endpoint.timeout_seconds:g} seconds")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return _failed(endpoint, "shows a certificate that is not trusted here", "Check the address.")
    if isinstance(reason, ConnectionError) and not isinstance(reason, ConnectionRefusedError):
        return _Again(f"broke the connection ({type(reason).__name__})")
    return _failed(endpoint, f"cannot be reached: {reason}", "Start the server, or check the address.")


def _refusal(endpoint: Endpoint, exc: urllib.error.HTTPError) -> Exception:
    """What a status other than 200 means."""
    status = exc.code
    if status in (401, 403):
        hint = f"Put a key that is allowed to make embeddings into the environment variable {endpoint.key_variable}."
        return _failed(endpoint, f"refuses the key ({status})" if endpoint.key else f"wants a key ({status})", hint)
    if 300 <= status < 400:
        hint = "Set the address that it names, if you trust it: the key is sent only to the address that is set."
        return _failed(endpoint, f"redirects elsewhere ({status})", hint)
    said = _said(endpoint, exc)
    if status == 404:
        return _failed(endpoint, f"knows no such address or model (404){said}", "Check the address and the model.")
    if status == 429 and "insufficient_quota" in said:
        return _failed(endpoint, "says that the quota is used up (429)", "Raise the quota with the provider.")
    if status in _AGAIN:
        return _Again(f"answers {status}{said}", _asked(exc, endpoint.waiting))
    return _failed(endpoint, f"answers {status}{said}", "Check the address, the model and its limits.")


def _said(endpoint: Endpoint, exc: urllib.error.HTTPError) -> str:
    """The first words of the server's own message, on one line and without the key."""
    try:
        words = " ".join(exc.read(4 * _MAX_SAID).decode("utf-8", "replace").split())
    except (OSError, http.client.HTTPException):
        return ""
    if endpoint.key:
        words = words.replace(endpoint.key, "***")
    words = "".join(char for char in words if char.isprintable())[:_MAX_SAID]
    return f": {words}" if words else ""


def _asked(exc: urllib.error.HTTPError, waiting: Waiting) -> float:
    """The seconds of `Retry-After`, which is a number or a date; 0 without it."""
    value = (exc.headers.get("Retry-After") or "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - waiting.now())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _failed(endpoint: Endpoint, what: str, hint: str) -> BackstoryError:
    return BackstoryError(f"The embeddings provider {endpoint.shown} {what}.", hint=hint, code=Exit.USAGE)


def _opener(endpoint: Endpoint) -> urllib.request.OpenerDirector:
    """HTTP and HTTPS only, and no redirects: the usual opener follows them with all headers."""
    opener = urllib.request.OpenerDirector()
    proxy = urllib.request.ProxyHandler({} if is_loopback(urlsplit(endpoint.url).hostname) else None)
    for handler in (
        proxy,
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener
