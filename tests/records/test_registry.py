"""The one list of kinds and operations."""

import re

import pytest

from backstory.records import operations as ops
from backstory.records.event import Entry
from backstory.records.registry import KIND_ALIASES, KINDS, LIVE, OPERATIONS, STANDINGS, kind_name


def test_every_kind_is_an_entry_of_its_own_module() -> None:
    for name, cls in KINDS.items():
        assert issubclass(cls, Entry)
        assert cls.__module__ == f"backstory.records.kinds.{name}"
        assert cls.HEADING and (cls.DECAY_DAYS is None or cls.DECAY_DAYS > 0)
        assert set(cls.PROSE) <= set(cls.__struct_fields__)
        assert cls.__struct_config__.frozen


def test_every_operation_is_one() -> None:
    for name, cls in OPERATIONS.items():
        assert issubclass(cls, ops.Operation)
        assert cls.__name__.lower() == name
        assert cls.__struct_config__.frozen
    assert not set(KINDS) & set(OPERATIONS)


@pytest.mark.parametrize(
    ("typed", "kind"),
    [("attempt", "trial"), ("Attempts", "trial"), ("decisions", "decision"), ("hot-file", "hotfile"),
     ("hot_files", "hotfile"), ("FIX", "fix"), ("fixes", "fix"), ("hypothesis", "hypothesis"), ("issue", "issue"),
     (" note ", "note"), ("bug", "issue")],
)  # fmt: skip
def test_other_names_lead_to_a_kind(typed: str, kind: str) -> None:
    assert kind_name(typed) == kind


@pytest.mark.parametrize("typed", ["", "s", "es", "thought", "confirm", "decision;drop"])
def test_anything_else_is_none(typed: str) -> None:
    assert kind_name(typed) is None


def test_names_are_words_and_the_live_ones_are_standings() -> None:
    assert all(re.fullmatch("[a-z]+", name) for name in (*KINDS, *OPERATIONS, *STANDINGS))
    assert set(KIND_ALIASES.values()) <= set(KINDS)
    assert set(LIVE) < set(STANDINGS)
