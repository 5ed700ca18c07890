"""The fold: from entries and operations to standing, by who said it and when, never by where it stands in a file."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from backstory.records import operations as ops
from backstory.records.event import AGENT, HOOK, IMPORT, PERSON, WRITERS, By, Entry
from backstory.records.fold import Held, Seen, Standing, fold, tombstones
from backstory.records.kinds.note import Note
from backstory.records.registry import OPERATIONS
from backstory.records.times import format_instant, parse_instant

SECOND = 1_000_000


def at(second: int) -> str:
    return format_instant(1_772_000_000_000_000 + second * SECOND)


def by(kind: str, session: str = "", name: str = "") -> By:
    return By(kind, name or kind, session)


def entry(id_: str, writer: str = PERSON, second: int = 0, session: str = "", **fields: Any) -> Entry:
    return Note(id=id_, kind="note", at=at(second), by=by(writer, session), summary=f"value {id_}", **fields)


NUMBERS = itertools.count()


def op(name: str, target: str, writer: str = PERSON, second: int = 10, session: str = "", **fields: Any) -> Any:
    id_ = f"op{next(NUMBERS):06d}"
    return OPERATIONS[name](
        id=id_, kind=name, at=at(second), by=by(writer, session), target=target, reason="why", **fields
    )


def key(id_: str) -> str:
    return f"key of {id_}"


def stand(
    entries: Sequence[Entry],
    operations: Sequence[Any] = (),
    *,
    elsewhere: Sequence[str] = (),
    journal: Sequence[Any] = (),
) -> dict[str, Standing]:
    """`elsewhere`: entries that are only in the journal; `journal`: operations that are."""
    seen: dict[str, list[Seen]] = {}
    for one in operations:
        seen.setdefault(one.target, []).append(Seen(one))
    for one in journal:
        seen.setdefault(one.target, []).append(Seen(one, in_tree=False))
    held = {item.id: Held(item, key(item.id), item.id not in elsewhere) for item in entries}
    return fold(held, seen, tombstones([*operations, *journal]))


def standings(*args: Any, **kwargs: Any) -> dict[str, str]:
    return {id_: found.standing for id_, found in stand(*args, **kwargs).items()}


# -- who may do what


@pytest.mark.parametrize(
    ("writer", "expected"), [(PERSON, "confirmed"), (AGENT, "active"), (HOOK, "proposed"), (IMPORT, "proposed")]
)
def test_an_entry_lands_by_its_writer(writer: str, expected: str) -> None:
    assert standings([entry("A", writer)]) == {"A": expected}


TABLE = {
    # (what the entry was, operation): standing after it by person, agent, hook and import
    ("confirmed", "confirm"): ("confirmed", "confirmed", "confirmed"),
    ("active", "confirm"): ("confirmed", "active", "active"),
    ("proposed", "confirm"): ("confirmed", "active", "active"),
    ("confirmed", "retire"): ("retired", "contested", "confirmed"),
    ("active", "retire"): ("retired", "retired", "active"),
    ("proposed", "retire"): ("retired", "retired", "proposed"),
    ("confirmed", "approve"): ("confirmed", "confirmed", "confirmed"),
    ("active", "approve"): ("confirmed", "active", "active"),
    ("proposed", "approve"): ("confirmed", "proposed", "proposed"),
    ("confirmed", "reject"): ("rejected", "confirmed", "confirmed"),
    ("active", "reject"): ("rejected", "active", "active"),
    ("proposed", "reject"): ("rejected", "proposed", "proposed"),
    ("confirmed", "contest"): ("contested", "contested", "confirmed"),
    ("active", "contest"): ("contested", "contested", "active"),
    # A doubt about what waits for a person does not make it count.
    ("proposed", "contest"): ("proposed", "proposed", "proposed"),
    ("confirmed", "resolve"): ("confirmed", "confirmed", "confirmed"),
    ("active", "resolve"): ("confirmed", "active", "active"),
    ("proposed", "resolve"): ("confirmed", "proposed", "proposed"),
    ("confirmed", "redact"): ("retired", "confirmed", "confirmed"),
    ("active", "redact"): ("retired", "active", "active"),
    ("proposed", "redact"): ("retired", "proposed", "proposed"),
    ("confirmed", "snooze"): ("confirmed", "confirmed", "confirmed"),
    ("active", "share"): ("active", "active", "active"),
    ("confirmed", "lift"): ("confirmed", "confirmed", "confirmed"),
}
ORIGIN = {"confirmed": PERSON, "active": AGENT, "proposed": HOOK}


@pytest.mark.parametrize(("was", "name"), sorted(TABLE))
def test_the_table_of_authority(was: str, name: str) -> None:
    """Each operation by each kind of writer, from another session than the entry's."""
    expected = dict(zip((PERSON, AGENT, HOOK, IMPORT), (*TABLE[was, name], TABLE[was, name][2]), strict=True))
    for writer in WRITERS:
        fields = {"key": key("A")} if name in ("reject", "lift") else {}
        found = standings([entry("A", ORIGIN[was], session="s1")], [op(name, "A", writer, session="s2", **fields)])
        assert found == {"A": expected[writer]}, writer


# -- confirmation


def test_two_sessions_turn_a_proposal_active_and_one_does_not() -> None:
    proposal = entry("A", HOOK, session="s1")
    assert standings([proposal], [op("confirm", "A", HOOK, session="s1")]) == {"A": "proposed"}
    assert standings([proposal], [op("confirm", "A", AGENT)]) == {"A": "proposed"}
    assert standings([proposal], [op("confirm", "A", HOOK, session="s2")]) == {"A": "active"}
    assert stand([proposal], [op("confirm", "A", HOOK, session="s2")])["A"].sessions == 2


def test_a_held_entry_needs_a_person_whoever_repeats_it() -> None:
    for writer in (AGENT, HOOK, IMPORT):
        held = entry("A", writer, session="s1", held="directive")
        repeats = [op("confirm", "A", AGENT, session=f"s{number}") for number in range(2, 6)]
        assert standings([held], repeats) == {"A": "proposed"}
        assert standings([held], [*repeats, op("approve", "A", second=20)]) == {"A": "confirmed"}
    assert standings([entry("A", PERSON, held="directive")]) == {"A": "confirmed"}


def test_a_session_counts_once_and_restarts_the_age_once() -> None:
    active = entry("A", AGENT, session="s1")
    own = stand([active], [op("confirm", "A", AGENT, 50, "s1"), op("confirm", "A", AGENT, 70, "s1")])["A"]
    assert (own.confirmed_at, own.sessions) == (parse_instant(at(50)), 1)
    twice = [op("confirm", "A", AGENT, 50, "s2"), op("confirm", "A", AGENT, 90, "s2")]
    assert stand([active], twice)["A"].confirmed_at == parse_instant(at(50))
    assert stand([active], [*twice, op("confirm", "A", PERSON, 95)])["A"].confirmed_at == parse_instant(at(95))


def test_a_source_that_is_read_again_does_not_restart_the_age() -> None:
    proposal = entry("A", HOOK, session="s1")
    assert (
        stand([proposal], [op("confirm", "A", HOOK, 50, "s1"), op("confirm", "A", IMPORT, 60)])["A"].confirmed_at == 0
    )
    assert stand([proposal], [op("confirm", "A", HOOK, 50, "s2")])["A"].confirmed_at == parse_instant(at(50))


def test_confirmations_of_unknown_sessions_count_each() -> None:
    active = entry("A", AGENT)
    twice = [op("confirm", "A", AGENT, 50), op("confirm", "A", AGENT, 90)]
    assert stand([active], twice)["A"].confirmed_at == parse_instant(at(90))


# -- ends


def test_a_retirement_says_when_by_whom_and_why() -> None:
    found = stand([entry("A")], [op("retire", "A", second=30)])["A"]
    assert (found.ended_at, found.ended_by, found.reason) == (parse_instant(at(30)), "person", "why")


def test_the_later_word_of_a_person_holds() -> None:
    retire, approve = op("retire", "A", second=20), op("approve", "A", second=30)
    assert standings([entry("A", AGENT)], [retire, approve]) == {"A": "confirmed"}
    assert standings([entry("A", AGENT)], [op("approve", "A", second=10), retire]) == {"A": "retired"}


def test_a_retirement_after_a_resolution_holds() -> None:
    """What a person kept and retired later stays retired."""
    entries = [entry("A"), entry("B", AGENT, 1)]
    resolve = op("resolve", "A", second=20, over="B")
    assert standings(entries, [resolve, op("retire", "A", second=30)])["A"] == "retired"
    assert standings(entries, [resolve, op("contest", "A", AGENT, 30)])["A"] == "contested"
    assert standings(entries, [op("retire", "A", second=10), resolve])["A"] == "confirmed"


def test_a_retirement_with_a_successor_supersedes() -> None:
    found = stand([entry("A", AGENT), entry("B", second=1)], [op("retire", "A", successor="B")])
    assert (found["A"].standing, found["A"].superseded_by) == ("superseded", ("B",))
    contested = stand([entry("A"), entry("B", second=1)], [op("retire", "A", AGENT, successor="B")])
    assert (contested["A"].standing, contested["A"].contested_with) == ("contested", ("B",))


def test_a_redacted_entry_never_comes_back() -> None:
    redact = op("redact", "A", second=10)
    for late in ("approve", "confirm", "resolve"):
        assert standings([entry("A")], [redact, op(late, "A", second=20)]) == {"A": "retired"}


# -- supersession


def test_a_supersession_takes_the_older_one_out() -> None:
    found = stand([entry("A"), entry("B", PERSON, 1, supersedes=("A",))])
    assert {id_: state.standing for id_, state in found.items()} == {"A": "superseded", "B": "confirmed"}
    assert found["A"].superseded_by == ("B",)


def test_an_agents_supersession_of_what_a_person_confirmed_makes_both_contested() -> None:
    found = stand([entry("A"), entry("B", AGENT, 1, supersedes=("A",))])
    assert {id_: state.standing for id_, state in found.items()} == {"A": "contested", "B": "contested"}
    assert (found["A"].contested_with, found["B"].contested_with) == (("B",), ("A",))


def test_an_agents_supersession_of_an_agents_word_stands() -> None:
    assert standings([entry("A", AGENT), entry("B", AGENT, 1, supersedes=("A",))])["A"] == "superseded"


@pytest.mark.parametrize("kept", ["A", "B"])
def test_a_person_ends_the_conflict_for_either_side(kept: str) -> None:
    """Also for the old one: the agent's supersession does not contest it for ever."""
    lost = "B" if kept == "A" else "A"
    entries = [entry("A"), entry("B", AGENT, 1, supersedes=("A",))]
    found = stand(entries, [op("resolve", kept, second=20, over=lost)])
    assert (found[kept].standing, found[lost].standing) == ("confirmed", "superseded")
    assert found[lost].superseded_by == (kept,)
    assert found[kept].contested_with == ()


def test_a_person_may_say_that_both_stand() -> None:
    entries = [entry("A"), entry("B", AGENT, 1, supersedes=("A",))]
    for target, over in (("A", "B"), ("B", "A")):
        found = standings(entries, [op("resolve", target, second=20, over=over, both=True)])
        assert found == {"A": "confirmed", "B": "confirmed"}


def test_a_person_may_change_their_mind() -> None:
    entries = [entry("A"), entry("B", AGENT, 1, supersedes=("A",))]
    first, second = op("resolve", "A", second=20, over="B"), op("resolve", "B", second=30, over="A")
    assert standings(entries, [first, second]) == {"A": "superseded", "B": "confirmed"}
    assert standings(entries, [op("resolve", "B", second=10, over="A"), first]) == {"A": "confirmed", "B": "superseded"}


def test_an_agent_resolves_nothing() -> None:
    entries = [entry("A"), entry("B", AGENT, 1, supersedes=("A",))]
    assert set(standings(entries, [op("resolve", "B", AGENT, 20, over="A")]).values()) == {"contested"}


def test_a_proposal_supersedes_only_once_it_is_approved() -> None:
    entries = [entry("A"), entry("B", HOOK, 1, supersedes=("A",))]
    assert standings(entries) == {"A": "confirmed", "B": "proposed"}
    assert standings(entries, [op("approve", "B")]) == {"A": "superseded", "B": "confirmed"}


def test_a_rejected_superseder_gives_the_old_one_back_and_lifting_takes_it_again() -> None:
    entries = [entry("A"), entry("B", PERSON, 1, supersedes=("A",))]
    reject, lift = op("reject", "B", second=20, key=key("B")), op("lift", "B", second=30, key=key("B"))
    assert standings(entries, [reject]) == {"A": "confirmed", "B": "rejected"}
    assert standings(entries, [reject, lift]) == {"A": "superseded", "B": "confirmed"}


def test_a_retired_or_redacted_superseder_does_not_bring_the_old_one_back() -> None:
    """That the new one no longer holds does not make the old one true; that its text is gone even less."""
    entries = [entry("A"), entry("B", PERSON, 1, supersedes=("A",))]
    for name in ("retire", "redact"):
        assert standings(entries, [op(name, "B")]) == {"A": "superseded", "B": "retired"}


def test_a_superseder_that_was_rejected_and_then_redacted_stays_without_effect() -> None:
    """Its own text, and with it its key, is gone; the rejection named it."""
    entries = [entry("A"), entry("B", PERSON, 1, supersedes=("A",), redacted=True)]
    reject = op("reject", "B", second=20, key="the key that its text had")
    assert standings(entries, [reject, op("redact", "B", second=30)])["A"] == "confirmed"


def test_a_chain_leaves_the_last_one() -> None:
    chain = [entry("E0", AGENT)]
    chain += [entry(f"E{number}", AGENT, number, supersedes=(f"E{number - 1}",)) for number in range(1, 8)]
    found = standings(chain)
    assert [id_ for id_, standing in found.items() if standing != "superseded"] == ["E7"]


def test_a_supersession_by_the_clock_of_an_earlier_time_counts_too() -> None:
    """The other clone's clock was behind."""
    assert standings([entry("A", second=100), entry("B", PERSON, 1, supersedes=("A",))])["A"] == "superseded"


def test_itself_and_the_unknown_are_not_superseded() -> None:
    assert standings([entry("A", supersedes=("A", "X"))]) == {"A": "confirmed"}


@pytest.mark.parametrize("length", [2, 3, 4, 7])
@pytest.mark.parametrize("writer", [PERSON, AGENT])
def test_a_circle_from_several_clones_shows_all_of_it_contested(length: int, writer: str) -> None:
    """None of them may vanish: which one holds is for a person to say."""
    circle = [
        entry(f"E{number}", writer, number, supersedes=(f"E{(number + 1) % length}",)) for number in range(length)
    ]
    found = stand(circle)
    assert {state.standing for state in found.values()} == {"contested"}
    assert not any(state.superseded_by for state in found.values())
    assert all(state.contested_with for state in found.values())


def test_a_circle_of_successors_is_a_circle_too() -> None:
    operations = [op("retire", "A", successor="B"), op("retire", "B", second=20, successor="A")]
    assert standings([entry("A"), entry("B")], operations) == {"A": "contested", "B": "contested"}


def test_what_a_circle_replaces_stays_replaced_and_what_replaces_it_wins() -> None:
    circle = [entry("A", second=5, supersedes=("B", "Z")), entry("B", second=6, supersedes=("A",))]
    old, new = entry("Z"), entry("N", second=9, supersedes=("A", "B"))
    assert standings([*circle, old]) == {"A": "contested", "B": "contested", "Z": "superseded"}
    assert standings([*circle, old, new]) == {"A": "superseded", "B": "superseded", "Z": "superseded", "N": "confirmed"}


# -- this tree and the journal


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_of_what_is_only_in_the_journal_reject_lift_and_redact_move_an_entry_of_the_tree(name: str) -> None:
    fields = {"key": key("A")} if name in ("reject", "lift") else {"over": "B"} if name == "resolve" else {}
    fields |= {"undoes": "A"} if name == "undo" else {}
    before = [entry("A", AGENT), entry("B", second=1)]
    base = [op("reject", "A", second=5, key=key("A"))] if name == "lift" else []
    found = standings(before, base, journal=[op(name, "A", **fields)])
    plain = standings(before, base)
    if name in ("reject", "lift", "redact"):
        assert found != plain
    else:
        assert found == plain
    moved = standings(before, base, elsewhere=("A", "B"), journal=[op(name, "A", **fields)])
    assert (moved != plain) == (name not in ("snooze", "share"))


def test_an_entry_elsewhere_supersedes_nothing_in_this_tree() -> None:
    entries = [entry("A"), entry("B", second=1, supersedes=("A",))]
    assert standings(entries, elsewhere=("B",)) == {"A": "confirmed", "B": "confirmed"}
    assert standings(entries, elsewhere=("A", "B")) == {"A": "superseded", "B": "confirmed"}
    assert standings(entries, elsewhere=("A",)) == {"A": "superseded", "B": "confirmed"}


def test_an_undo_that_is_only_in_the_journal_undoes_only_what_is_only_there() -> None:
    entries, approve = [entry("A", HOOK)], op("approve", "A")
    undo = op("undo", "A", second=20, undoes=approve.id)
    assert standings(entries, [approve, undo]) == {"A": "proposed"}
    assert standings(entries, [approve], journal=[undo]) == {"A": "confirmed"}
    assert standings(entries, elsewhere=["A"], journal=[approve]) == {"A": "confirmed"}
    assert standings(entries, elsewhere=["A"], journal=[approve, undo]) == {"A": "proposed"}


def test_what_an_undone_entry_replaced_stands_again_until_a_person_approves_it() -> None:
    entries, undo = [entry("A"), entry("B", second=1, supersedes=("A",))], op("undo", "B", undoes="B")
    assert standings(entries) == {"A": "superseded", "B": "confirmed"}
    assert standings(entries, [undo]) == {"A": "confirmed", "B": "retired"}
    assert standings(entries, [op("undo", "B", AGENT, undoes="B")]) == {"A": "superseded", "B": "confirmed"}
    assert standings(entries, [undo, op("approve", "B", second=20)]) == {"A": "superseded", "B": "confirmed"}


# -- tombstones


def test_the_latest_word_on_a_value_holds() -> None:
    reject, lift = op("reject", "A", second=10, key="k"), op("lift", "A", second=20, key="k")
    again = op("reject", "", second=30, key="k", value="the words")
    assert set(tombstones([reject])) == {"k"}
    assert tombstones([reject, lift]) == {}
    assert tombstones([lift, reject]) == {}
    last = tombstones([again, lift, reject])["k"]
    assert (last.op, last.value, last.reason, last.by) == (again.id, "the words", "why", "person")


def test_only_a_person_rejects_and_lifts() -> None:
    for writer in (AGENT, HOOK, IMPORT):
        assert tombstones([op("reject", "A", writer, key="k")]) == {}
        assert set(tombstones([op("reject", "A", key="k"), op("lift", "A", writer, 20, key="k")])) == {"k"}
    assert tombstones([op("reject", "A")]) == {}


def test_a_rejection_meets_every_entry_of_the_value_whenever_it_was_written() -> None:
    entries = [entry("A"), entry("B", AGENT, 50), entry("C", second=60)]
    held = {item.id: Held(item, "same", True) for item in entries}
    reject = op("reject", "A", second=10, key="same")
    found = fold(held, {"A": [Seen(reject)]}, tombstones([reject]))
    assert {state.standing for state in found.values()} == {"rejected"}
    assert found["B"].reason == "why"


def test_a_rejection_outlasts_every_later_operation_but_lift() -> None:
    later = [
        op(name, "A", second=20 + number) for number, name in enumerate(("confirm", "approve", "contest", "retire"))
    ]
    reject = op("reject", "A", second=10, key=key("A"))
    assert standings([entry("A")], [reject, *later[:3]]) == {"A": "rejected"}
    lift = op("lift", "A", second=90, key=key("A"))
    assert standings([entry("A")], [reject, *later, lift]) == {"A": "retired"}
    assert standings([entry("A")], [reject, *later[:2], lift]) == {"A": "confirmed"}


# -- order


def test_the_order_of_arrival_never_matters() -> None:
    """A hundred shuffles of one story with everything in it."""
    entries = [
        entry("A"), entry("B", AGENT, 1, "s1", supersedes=("A",)), entry("C", HOOK, 2, "s1", supersedes=("B",)),
        entry("D", AGENT, 3, "s2"), entry("E", PERSON, 0, supersedes=("D",)),
    ]  # fmt: skip
    story = [
        op("confirm", "C", HOOK, 11, "s2"), op("contest", "D", AGENT, 12, against="E"), op("approve", "C", second=13),
        op("resolve", "A", second=14, over="B"), op("reject", "E", second=15, key=key("E")),
        op("lift", "E", second=16, key=key("E")), op("retire", "C", second=17), op("confirm", "C", second=18),
        op("resolve", "E", second=19, over="D"), op("redact", "B", second=20), op("confirm", "A", AGENT, 21, "s3"),
    ]  # fmt: skip
    expected = stand(entries, story)
    shuffler = random.Random(3)
    for _ in range(100):
        shuffler.shuffle(entries)
        shuffler.shuffle(story)
        assert stand(entries, story) == expected


def test_a_tie_of_time_is_broken_by_id() -> None:
    retire, approve = op("retire", "A"), op("approve", "A")
    assert retire.id < approve.id
    assert standings([entry("A")], [approve, retire]) == {"A": "confirmed"}


def test_operations_on_what_is_not_there_do_nothing() -> None:
    assert stand([], [op("retire", "X"), op("resolve", "X", over="Y")]) == {}
    assert standings([entry("A")], [op("resolve", "X", over="A")]) == {"A": "confirmed"}
    assert isinstance(op("retire", "X"), ops.Retire)
