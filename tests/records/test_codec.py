"""One event, one line: canonical bytes, a hash over all of it, and nothing dropped that this version does not know."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.records import codec
from backstory.records.codec import (
    BadLine,
    blank_hash,
    blanked,
    canonical,
    content_hash,
    event_from,
    first_prev,
    read_event,
    read_fields,
    read_head,
    seal,
    shape_of,
    to_fields,
    verifies,
)
from backstory.records.event import UnknownEvent
from backstory.records.ids import new_id
from backstory.records.registry import KINDS, OPERATIONS

PROJECT, SHARD = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "202602-abcdefgh-00000000"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 53), 1 << 53) | st.floats(-1e300, 1e300) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def fields(**more: Any) -> dict[str, Any]:
    return {
        "kind": "note", "id": new_id(1), "at": "2026-01-01T00:00:00.000000Z", "by": {"kind": "person"},
        "summary": "something", **more,
    }  # fmt: skip


@given(st.dictionaries(texts, values, max_size=5))
def test_any_fields_make_one_line_that_reads_back_the_same(more: dict[str, Any]) -> None:
    event = seal({**more, **fields()}, PROJECT, SHARD, "0" * 32)
    line = canonical(event)
    assert b"\n" not in line and b"\r" not in line
    assert len(line.decode().splitlines()) == 1
    assert read_fields(line) == json.loads(line) == event
    assert canonical(read_fields(line)) == line
    assert verifies(PROJECT, line, event["h"])


@given(st.dictionaries(texts, values, max_size=3), st.data())
def test_no_changed_byte_verifies_unless_it_says_the_same(more: dict[str, Any], data: st.DataObject) -> None:
    event = seal({**more, **fields()}, PROJECT, SHARD, "0" * 32)
    line = bytearray(canonical(event))
    place = data.draw(st.integers(0, len(line) - 1))
    line[place] ^= 1 << data.draw(st.integers(0, 7))
    changed = bytes(line)
    try:
        head = read_head(changed)
    except BadLine:
        return
    if verifies(PROJECT, changed, head.h):
        assert read_fields(changed) == event


def test_the_hash_binds_project_shard_and_predecessor() -> None:
    event = seal(fields(), PROJECT, SHARD, "0" * 32)
    line = canonical(event)
    assert not verifies("another", line, event["h"])
    assert seal(fields(), PROJECT, "202602-abcdefgh-11111111", "0" * 32)["h"] != event["h"]
    assert seal(fields(), PROJECT, SHARD, "1" * 32)["h"] != event["h"]
    assert first_prev(PROJECT, SHARD) != first_prev("another", SHARD) != first_prev(PROJECT, "other")
    assert seal(event, PROJECT, SHARD, "0" * 32) == event
    assert len(bytes.fromhex(event["h"])) == 16


def test_a_hash_in_the_text_is_no_hash() -> None:
    h = "0" * 32
    event = seal(fields(summary=f'"h":"{h}",', detail=f'"h":"{h}"'), PROJECT, SHARD, h)
    assert verifies(PROJECT, canonical(event), event["h"])


@pytest.mark.parametrize(
    "line",
    [
        b"", b"null", b"[]", b"7", b'"x"', b"{", b"{}", b'{"id":"A"}', b'{"id":"A","kind":"note"}', b"\xff\xfe", b"\0",
        b'{"id":1,"kind":"note","at":"x"}', b"[" * 100_000, b'{"a":' * 100_000, b'{"id":"A","kind":"note","at":null}',
    ],
)  # fmt: skip
def test_what_is_no_event_raises_bad_line_alone(line: bytes) -> None:
    for read in (read_head, read_event):
        with pytest.raises(BadLine):
            read(line)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_a_bad_line(data: bytes) -> None:
    for read in (read_head, read_event, read_fields):
        try:
            read(data)
        except BadLine:
            pass
    assert verifies(PROJECT, data, "0" * 32) is False


@pytest.mark.parametrize("kind", [*KINDS, *OPERATIONS])
def test_every_kind_reads_back_as_its_type_and_drops_defaults(kind: str) -> None:
    event = event_from(fields(kind=kind))
    assert type(event) is {**KINDS, **OPERATIONS}[kind]
    assert to_fields(event).keys() <= fields().keys()
    assert event_from(to_fields(event)) == event
    assert {"id", "kind", "at", "by", "h", "prev", "shard", "v"} <= set(shape_of(kind))


def test_an_unknown_kind_is_an_unknown_event_and_an_unknown_field_stays_in_the_line() -> None:
    event = read_event(canonical(fields(kind="forecast", odds=3)))
    assert isinstance(event, UnknownEvent)
    assert read_fields(canonical(fields(mood={"deep": 1})))["mood"] == {"deep": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"summary": 1},
        {"files": [1]},
        {"by": "me"},
        {"valid_from": "2026-01-01"},
        {"decay_days": 0},
        {"decay_days": 1 << 70},
    ],
)
def test_a_misshapen_field_is_a_bad_line(change: dict[str, Any]) -> None:
    with pytest.raises(BadLine):
        read_event(canonical(fields(**change)))


# -- blanking


FULL = {
    "summary": "the secret", "detail": "more", "files": [{"path": "secret.py"}], "aliases": ["x"], "evidence": ["e"],
    "issue": "7", "ticket": "T", "commit": "abc", "scope": "s", "revisit_when": "w", "held": "h", "unknown": "secret",
    "supersedes": ["A" * 26], "pinned": True, "valid_until": "2027-01-01T00:00:00.000000Z", "decay_days": 3,
}  # fmt: skip


def test_blanking_leaves_no_text_and_keeps_the_links() -> None:
    event = seal(fields(**FULL), PROJECT, SHARD, "0" * 32)
    bare = blanked(event)
    assert b"secret" not in canonical(bare)
    assert {name: bare[name] for name in ("id", "h", "prev", "shard", "supersedes", "pinned")} == {
        name: event[name] for name in ("id", "h", "prev", "shard", "supersedes", "pinned")
    }
    assert set(bare) - codec.KEPT_BY_REDACTION == {"summary", "redacted"}
    assert blanked(bare) == bare
    assert read_event(canonical(bare)).id == event["id"]


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_blanked_entry_of_any_kind_is_still_one(kind: str) -> None:
    lists = {"libraries", "examples", "alternatives_rejected"}
    event = {name: ["text"] if name in lists else "text" for name in shape_of(kind) if name not in FULL}
    event = {**event, **FULL, **fields(kind=kind), "v": 1, "redacted": False, "valid_from": FULL["valid_until"]}
    assert type(read_event(canonical(blanked(event)))) is KINDS[kind]


def test_what_is_vouched_for_is_the_same_in_every_shard_and_only_for_this_event() -> None:
    one = seal(fields(**FULL), PROJECT, SHARD, "0" * 32)
    copy = seal({**one, "origin": SHARD}, PROJECT, "202602-abcdefgh-11111111", "1" * 32)
    assert one["h"] != copy["h"]
    assert blank_hash(PROJECT, one) == blank_hash(PROJECT, copy) == blank_hash(PROJECT, blanked(copy))
    assert blank_hash(PROJECT, {**one, "id": new_id(2)}) != blank_hash(PROJECT, one)
    assert blank_hash("another", one) != blank_hash(PROJECT, one)
    assert content_hash(PROJECT, one) == one["h"]
