"""One event, one line: canonical JSON, its content hash, and reading it back.

Canonical means sorted keys, no spaces, UTF-8, with every control character and the line separators U+2028 and
U+2029 escaped, so that no reader on any platform sees two lines. The hash `h` covers the project's id and the
whole line without `h` itself: a line of another project or another shard never verifies here.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any

import msgspec

from backstory.records.event import Event, UnknownEvent
from backstory.records.registry import KINDS, OPERATIONS
from backstory.records.times import parse_instant

_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")

Fields = dict[str, Any]


class Head(msgspec.Struct, frozen=True, gc=False):
    """The few fields that reading and linking need; decoding only these is what keeps reading under 2 us a line."""

    id: str
    kind: str
    at: str
    h: str = ""
    prev: str = ""
    shard: str = ""
    v: int = 1


_HEAD = msgspec.json.Decoder(Head)
# Made when first used: twenty decoders cost each command 10 ms, and it reads events of few kinds.
_DECODERS: dict[type[Event], msgspec.json.Decoder[Any]] = {}
_INSTANTS = ("valid_from", "valid_until", "until")
MAX_DAYS = 36_500


class BadLine(ValueError):
    """A line that is not an event of this format; the message says why."""


def canonical(fields: Fields) -> bytes:
    """The canonical bytes of `fields`, without a line end."""
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text).encode("utf-8")


def content_hash(project: str, fields: Fields) -> str:
    """`h` of an event: 128 bits over the project's id and the canonical line without `h`."""
    return _digest(project, canonical({name: value for name, value in fields.items() if name != "h"}))


def first_prev(project: str, shard: str) -> str:
    """`prev` of the first event of a shard."""
    return _digest(project, shard.encode("utf-8"))


def seal(fields: Fields, project: str, shard: str, prev: str) -> Fields:
    """`fields` bound to a project, a shard and the writer's previous event there."""
    bound = {**fields, "shard": shard, "prev": prev}
    bound.pop("h", None)
    return {**bound, "h": content_hash(project, bound)}


def verifies(project: str, line: bytes, h: str) -> bool:
    """Whether the content of `line` gives `h`. The usual line is hashed as it is, an unusual one is made canonical."""
    needle = b'"h":"' + h.encode("utf-8", "replace") + b'",'
    if line.count(needle) == 1 and _digest(project, line.replace(needle, b"")) == h:
        return True
    try:
        fields = json.loads(line, object_pairs_hook=_once)
        return isinstance(fields, dict) and content_hash(project, fields) == h
    except (ValueError, RecursionError):
        return False


def _once(pairs: list[tuple[str, Any]]) -> Fields:
    """The object of `pairs`. A name that stands twice would let a line show one thing and say another."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name stands twice")
    return fields


def _digest(project: str, data: bytes) -> str:
    return blake2b(project.encode("utf-8") + b"\n" + data, digest_size=16).hexdigest()


def read_head(line: bytes) -> Head:
    """The linking fields of a line; `BadLine` when it is no event."""
    try:
        return _HEAD.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadLine(str(error)) from error


def read_fields(line: bytes) -> Fields:
    """Every field of a line, known or not; `BadLine` when it is not one JSON object."""
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadLine(str(error)) from error
    if not isinstance(fields, dict):
        raise BadLine("not a JSON object")
    return fields


def _decoder(kind: str) -> msgspec.json.Decoder[Any]:
    cls: type[Event] = KINDS.get(kind) or OPERATIONS.get(kind) or UnknownEvent
    made = _DECODERS.get(cls)
    if made is None:
        made = _DECODERS[cls] = msgspec.json.Decoder(cls)
    return made


def read_event(line: bytes) -> Event:
    """The typed event of a line; an unknown kind gives `UnknownEvent`, a misshapen field `BadLine`."""
    head = read_head(line)
    try:
        event: Event = _decoder(head.kind).decode(line)
        _check_figures(event)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise BadLine(str(error)) from error
    return event


def _check_figures(event: Event) -> None:
    """`ValueError` for an instant without a zone or a number of days that no calendar holds."""
    for name in _INSTANTS:
        text = getattr(event, name, "")
        if text:
            parse_instant(text)
    days = getattr(event, "decay_days", None)
    if days is not None and not 0 < days <= MAX_DAYS:
        raise ValueError(f"decay_days is {days}")


def to_fields(event: Event) -> Fields:
    """The fields of a typed event as they go into a line: defaults left out."""
    fields: Fields = msgspec.to_builtins(event)
    return fields


def event_from(fields: Fields) -> Event:
    """The typed event of `fields`; `BadLine` names the field that does not fit."""
    cls: type[Event] = {**KINDS, **OPERATIONS}.get(str(fields.get("kind")), UnknownEvent)
    try:
        return msgspec.convert(fields, cls)
    except msgspec.MsgspecError as error:
        raise BadLine(str(error)) from error


def shape_of(kind: str) -> tuple[str, ...]:
    """The field names that events of `kind` know."""
    cls: type[Event] = {**KINDS, **OPERATIONS}.get(kind, UnknownEvent)
    return cls.__struct_fields__


# What redaction leaves: linking and judging fields. Everything else of an entry is text that somebody chose.
KEPT_BY_REDACTION = frozenset(
    "id kind at by v shard prev h branch origin supersedes pinned decay_days valid_from valid_until outcome".split()
)
REDACTED = "[redacted]"
# What differs between the copies of one event in several shards.
PLACE_FIELDS = ("h", "prev", "shard", "origin")


def blanked(fields: Fields) -> Fields:
    """The event with all its text gone: what `redact` leaves in place. `h` and `prev` stay, the summary says so."""
    kept = {name: value for name, value in fields.items() if name in KEPT_BY_REDACTION}
    return {**kept, "summary": REDACTED, "redacted": True}


def blank_hash(project: str, fields: Fields) -> str:
    """What the redact operation vouches for: the blanked event, in whichever shard a copy of it stands."""
    return content_hash(project, {name: value for name, value in blanked(fields).items() if name not in PLACE_FIELDS})
