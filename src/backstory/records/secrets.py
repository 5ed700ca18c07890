"""Take secrets out of text and leave the sentence.

Promise: every secret of a shape named below is replaced by `[redacted:<kind>]`, and all other characters stay as
they were. Redacting twice gives the same text as redacting once. The time is linear in the length of the text,
whatever it holds. No part of a secret is kept, logged or put into an error.

A shape is looked for only after its literal was seen (`"ghp_" in text`): joined into one expression the same
patterns cost nine times as much. A name and a value (`password=...`) are judged together, so that code, types,
placeholders and prose about passwords pass.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from backstory.records.secret_pairs import (
    assignments,
    is_given,
    is_placeholder,
    is_slug,
    is_strong,
    is_wordy,
    looks_random,
)


class Redaction(NamedTuple):
    """The text without its secrets, and the kinds that were taken out, sorted, each once."""

    text: str
    kinds: tuple[str, ...]


_PASSES = 8


class _Span(NamedTuple):
    """Where a secret lies. Of two that begin together the lower `order`, the surer finder, names the kind."""

    start: int
    order: int
    end: int
    kind: str


def redact(text: str) -> Redaction:
    """`text` with each secret replaced by `[redacted:<kind>]`, and the kinds found.

    A replacement can lay bare what stood behind it, so the finders run until one pass finds nothing. Of
    20,000 random mixtures of secrets none needed more than three passes; the bound is for hostile text.
    """
    kinds: set[str] = set()
    for _ in range(_PASSES):
        if not (spans := _find(text)):
            break
        pieces, done = [], 0
        for start, end, kind in _merged(spans):
            pieces += [text[done:start], f"[redacted:{kind}]"]
            kinds.add(kind)
            done = end
        text = "".join([*pieces, text[done:]])
    return Redaction(text, tuple(sorted(kinds)))


def _find(text: str) -> list[_Span]:
    lowered = text.lower()
    if len(lowered) != len(text):  # only the dotted capital I grows, and it would shift every position
        lowered = text.replace("\u0130", "i").lower()
    found = []
    for order, finder in enumerate(_FINDERS):
        found += [_Span(start, order, end, kind) for start, end, kind in finder(text, lowered)]
    return found


def _merged(spans: list[_Span]) -> Iterator[tuple[int, int, str]]:
    spans.sort()
    start, _, end, kind = spans[0]
    for span in spans[1:]:
        if span.start < end:
            end = max(end, span.end)
        else:
            yield start, end, kind
            start, _, end, kind = span
    yield start, end, kind


_Found = Iterator[tuple[int, int, str]]

# --- shapes that need no context -------------------------------------------------------------------------------

# What may follow, then kind and prefix. The prefix is the gate and never stands inside a longer word.
_SURE = {
    r"[A-Z0-9]{16,}": "aws:AKIA aws:ASIA age:AGE-SECRET-KEY-1",
    r"[A-Za-z0-9]{20,}": "github:ghp_ github:gho_ github:ghu_ github:ghs_ github:ghr_ bitbucket:ATBB npm:npm_",
    r"[A-Za-z0-9.-]{10,}": "slack:xoxa- slack:xoxb- slack:xoxe- slack:xoxo- slack:xoxp- slack:xoxr- slack:xoxs- "
    "slack:xoxe. slack:xapp-",
    r"[0-9a-fA-F]{32,}": "rubygems:rubygems_ digitalocean:dop_v1_ shopify:shpat_ shopify:shpca_ shopify:shppa_ "
    "shopify:shpss_",
    r"[\w.=-]{16,}": "github:github_pat_ gitlab:glpat- gitlab:glrt- gitlab:gldt- gitlab:glcbt- gitlab:glptt- "
    "gitlab:glft- gitlab:glsoat- gitlab:glimt- bitbucket:ATCTT3 atlassian:ATATT3 google:AIza google:ya29. "
    "google:GOCSPX- pypi:pypi-AgE docker:dckr_pat_ docker:dckr_oat_ anthropic:sk-ant- openai:sk-proj- "
    "openai:sk-svcacct- openrouter:sk-or-v1- stripe:sk_live_ stripe:rk_live_ stripe:sk_test_ grafana:glsa_ "
    "sentry:sntrys_",
    r"[\w-]{16,}\.[\w-]{16,}": "sendgrid:SG.",
}
# The same for prefixes that also begin names; what follows must look random.
_LIKELY = {
    r"[A-Za-z0-9]{20,}": "openai:sk- huggingface:hf_ groq:gsk_ xai:xai- replicate:r8_ perplexity:pplx- "
    "linear:lin_api_ notion:ntn_",
    r"[A-Za-z0-9]{32,}": "cargo:cio nuget:oy2",
    r"[0-9a-f]{32,}": "mailgun:key- twilio:SK databricks:dapi",
    r"[\w+/=-]{24,}": "stripe:whsec_ vault:hvs. nvidia:nvapi- discord:mfa.",
}


def _rows(table: dict[str, str], accept: Callable[[str], bool]) -> dict[str, tuple[str, str, Callable[[str], bool]]]:
    rows = {}
    for tail, pairs in table.items():
        for kind, prefix in (pair.split(":") for pair in pairs.split()):
            rows[prefix] = (kind, f"(?<![A-Za-z0-9]){re.escape(prefix)}({tail}\\w*)", accept)
    return rows


def _prefixed(text: str, lowered: str) -> _Found:
    # None of them is shorter or has white space in it, and most words are: looking in the others alone costs a third.
    long = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
    if not long:
        return
    for prefix in [prefix for prefix in _PREFIXED if prefix in long]:
        kind, pattern, accept = _PREFIXED[prefix]
        for match in _compiled(pattern).finditer(text):
            if accept(match[1]):
                yield match.start(), match.start(1) + len(match[1].rstrip(".")), kind


def _is_filled_in(tail: str) -> bool:
    return not re.match(r"(?i)(?:x+$|your[-_]|\w*x{6})", tail)


# The five characters of `xoxa-`, and ten.
_SHORTEST = 15
_PREFIXED = _rows(_SURE, _is_filled_in) | _rows(_LIKELY, looks_random)

# kind, lower-case literal that must be present, pattern whose group 1 is the secret. Each pattern begins with a
# literal or a boundary, so that no long scan starts more than once.
_SHAPES = (
    ("jwt", "eyj", r"(?<![\w-])(eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?)"),
    ("slack-webhook", "hooks.slack.com/", r"(?i:hooks\.slack\.com/(?:services|workflows)/)([\w/-]{12,})"),
    ("discord-webhook", "/api/webhooks/", r"(?i:discord(?:app)?\.com/api/webhooks/)(\d+/[\w-]{16,})"),
    ("telegram", ":", r":(?<=\d{8}:)([\w-]{35,})"),
    ("azure", "accountkey=", r"(?i:accountkey=)([A-Za-z0-9+/=]{20,})"),
    ("azure", "sharedaccesskey=", r"(?i:sharedaccesskey=)([A-Za-z0-9+/=]{20,})"),
    ("azure", "sig=", r"(?i:[?&;]sig=)([A-Za-z0-9%+/=_-]{20,})"),
    ("azure", "8q~", r"(?<![\w~.-])(\w{3}8Q~[\w~.-]{30,})"),
    ("mailchimp", "-us", r"(?<![\w-])([0-9a-f]{32}-us\d{1,2})(?!\w)"),
    ("twilio", "twilio", r"(?<![\w-])([0-9a-f]{32})(?![\w-])"),
    ("twilio", "ac", r"AC[0-9a-f]{32}\W{1,12}(?:[A-Za-z]{1,12}\W{1,4}){0,4}([0-9a-f]{32})(?!\w)"),
    ("aws", "aws", r"(?<![\w/+=-])([A-Za-z0-9/+]{40})(?![\w/+=-])"),
    ("aws", "[redacted:aws]", r"(?<![\w/+=-])([A-Za-z0-9/+]{40})(?![\w/+=-])"),
    ("netrc", "login", r"(?i:\blogin\s{1,4}\S{1,80}\s{1,4}password\s{1,4})([^\s\"'`]+)"),
    ("sql", "password", r"(?i:\bpassword\s{1,4})'([^'\n]{3,200})'"),
    ("sql", "identified", r"(?i:\bidentified\s{1,4}by\s{1,4}(?:password\s{1,4})?)['\"]([^'\"\n]{3,200})['\"]"),
    ("assignment", "sshpass", r"(?i:\bsshpass\s{1,4}-p\s{0,4})['\"]?([^\s\"'`]+)"),
)


def _shaped(text: str, lowered: str) -> _Found:
    for kind, gate, pattern in _SHAPES:
        if gate in lowered:
            for match in _compiled(pattern).finditer(text):
                if is_given(match[1]) and (kind != "aws" or _is_aws_secret(match[1])):
                    yield *match.span(1), kind


def _is_aws_secret(value: str) -> bool:
    """Whether 40 characters are no git hash and no path."""
    return bool(re.search(r"[A-Z]", value) and re.search(r"\d", value)) and not is_wordy(value)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _discord(text: str, lowered: str) -> _Found:
    """Bot tokens have no prefix, so they are found from the dot: base64 of a number before it."""
    for match in _compiled(r"\.[\w-]{6}\.[\w-]{27,}").finditer(text) if text.count(".") > 1 else ():
        head = _compiled(r"(?<![\w.-])[MNO][\w-]{17,29}$").search(text, max(0, match.start() - 31), match.start())
        if head and (_decoded(head[0]).isdigit() or looks_random(head[0])):
            yield head.start(), match.end(), "discord"


def _decoded(value: str) -> bytes:
    try:
        return a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return b""


# --- keys, addresses, headers ----------------------------------------------------------------------------------

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_TO_END = re.compile(r"[^-]*(?:-(?!----)[^-]*)*+(?=-----END )")
# Without an END: header lines and long runs of base64, then what little the cut left of the last line.
_CUT_OFF = re.compile(
    r"(?:(?:\s|\\+[nrt]|[\"'|>,])*+(?:[A-Z][A-Za-z-]{2,20}: (?:(?!-----)[^\n\\]){1,80}(?=\n|\\)"
    r"|[A-Za-z0-9+/=]{16,}+))*+"
    r"(?:(?:\n|\\+n)[A-Za-z0-9+/=]{1,15}\Z)?"
)


def _pem(text: str, lowered: str) -> _Found:
    for begin in _BEGIN.finditer(text) if "-----begin" in lowered else ():
        body = _TO_END.match(text, begin.end()) or _CUT_OFF.match(text, begin.end())
        if body and _compiled(r"[A-Za-z0-9+/=]{16}").search(body[0]):
            yield *body.span(), "pem"


_USERINFO = re.compile(r"""(?P<user>[^\s:/?\#@"'`<>\[]*):(?P<password>[^\s/?\#"'`<>]+)@(?=[\w\[.$%-])""")
# A raw `/`, `?` or `#` in the password, which is not valid but is written; a port before the slash is no password.
_USERINFO_RAW = re.compile(r"""(?P<user>[^\s:/?\#@"'`<>\[]*):(?P<password>(?!\d{1,5}[/?\#])[^\s@"'`<>]+)@(?=[\w\[])""")
_USER_ONLY = re.compile(r"(?P<password>[\w-]{20,})(?::(?:x-oauth-basic|x)?)?@(?=[A-Za-z0-9\[])")


def _urls(text: str, lowered: str) -> _Found:
    start = text.find("://") if "@" in text else -1
    while start >= 0:
        start += 3
        following = text.find("://", start)
        end = following if following >= 0 else len(text)
        match = _USER_ONLY.match(text, start, end)
        if match and not looks_random(match["password"]):
            match = None
        match = match or _USERINFO.match(text, start, end) or _USERINFO_RAW.match(text, start, end)
        if match and not is_placeholder(match["password"]):
            yield *match.span("password"), "url-password"
        start = following


_HEADER = re.compile(r"""\b(?i:(bearer)|basic|bot|token|apikey|digest)[ ]{1,4}["']?([A-Za-z0-9._~+/=-]{6,})""")


def _headers(text: str, lowered: str) -> _Found:
    if not ("authorization" in lowered or "bearer " in lowered or "basic " in lowered):
        return
    for match in _HEADER.finditer(text):
        value = match[2].rstrip(".")
        named = "authorization" in lowered[max(0, match.start() - 24) : match.start()]
        if not is_given(value):
            continue
        bare = named and len(value) >= 12 and not is_slug(value)
        if bare or (match[1] and is_strong(value)) or _is_user_and_password(_decoded(value)):
            yield match.start(2), match.start(2) + len(value), "authorization"


def _is_user_and_password(decoded: bytes) -> bool:
    return decoded.isascii() and b":" in decoded


_USER_FLAG = re.compile(r"""\s(?:-u\s{0,4}|-U\s{0,4}|--(?:proxy-)?user[= ])["']?[^\s:"'`]{1,80}:([^\s"'`]+)""")


def _curl(text: str, lowered: str) -> _Found:
    for match in _USER_FLAG.finditer(text) if "curl" in lowered else ():
        line = lowered[max(0, match.start() - 400) : match.start()].rpartition("\n")[2]
        if "curl" in line and not is_placeholder(match[1]):
            yield *match.span(1), "curl-user"


_FINDERS: tuple[Callable[[str, str], _Found], ...] = (
    _prefixed,
    _shaped,
    _discord,
    _pem,
    _urls,
    _headers,
    _curl,
    assignments,
)
