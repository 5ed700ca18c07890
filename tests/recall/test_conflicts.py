"""Conflicts in a project: what is shown when writing, what is listed, and how a person ends one."""

from pathlib import Path

from backstory.project import answers
from tests.project.memory import OTHER_AGENT, PERSON, Memory


def pairs(memory: Memory) -> set[frozenset[str]]:
    with memory.open() as project:
        return {frozenset((pair.one.id, pair.other.id)) for pair in answers.conflicts(project)}


def test_a_write_that_clashes_shows_both_sides_and_the_call_that_would_resolve_it(memory: Memory) -> None:
    old = memory.add("decision", "Use tabs for indentation")
    outcome = memory.record("decision", "Use spaces for indentation", OTHER_AGENT)
    assert [(clash.id, clash.sign, clash.summary) for clash in outcome.clashes] == [
        (old, "opposite", "Use tabs for indentation")
    ]
    assert any("supersede" in call and old in call and outcome.id in call for call in outcome.calls)
    assert pairs(memory) == {frozenset((old, outcome.id))}


def test_what_only_resembles_is_suggested_and_not_listed(memory: Memory) -> None:
    old = memory.add("decision", "Readers never take the lock of the log")
    outcome = memory.record("decision", "Readers never take the lock of the journal")
    assert [(clash.id, clash.sign) for clash in outcome.clashes] == [(old, "similar")]
    assert any("supersede" in call and old in call for call in outcome.calls)
    assert pairs(memory) == set()


def test_unrelated_decisions_show_nothing(memory: Memory) -> None:
    memory.add("decision", "Use tabs for indentation")
    outcome = memory.record("decision", "Ship every second week")
    assert outcome.clashes == () and outcome.calls == ()


def test_a_rejected_alternative_is_found_though_no_word_of_the_summary_is_shared(memory: Memory) -> None:
    old = memory.add("decision", "Jobs queue in the database", alternatives_rejected=["RabbitMQ: one more service"])
    outcome = memory.record("decision", "Use RabbitMQ")
    assert [(clash.id, clash.sign) for clash in outcome.clashes] == [(old, "turned down")]


def test_two_branches_that_decided_differently_conflict_after_the_merge(memory: Memory) -> None:
    memory.git("checkout", "-q", "-b", "one")
    one = memory.add("decision", "Use tabs for indentation")
    memory.commit("Decide on one")
    memory.git("checkout", "-q", "main")
    memory.git("checkout", "-q", "-b", "two")
    two = memory.add("decision", "Use spaces for indentation")
    memory.commit("Decide on two")
    assert pairs(memory) == set()
    memory.git("merge", "-q", "-m", "Merge", "one")
    assert pairs(memory) == {frozenset((one, two))}
    with memory.open() as project:
        (pair,) = answers.conflicts(project)
    memory.act("resolve", two, over=one)
    assert pair.call.startswith("backstory resolve ")
    assert pairs(memory) == set()
    with memory.open() as project:
        assert answers.show(project, one).entry.standing == "superseded"
        assert answers.show(project, two).entry.standing == "confirmed"


def test_resolve_with_both_silences_the_conflict_for_good(memory: Memory) -> None:
    one, two = memory.add("decision", "Use tabs for indentation"), memory.add("decision", "Use spaces for indentation")
    assert pairs(memory) == {frozenset((one, two))}
    memory.act("resolve", one, over=two, both=True)
    assert pairs(memory) == set()
    memory.act("confirm", two)
    assert pairs(memory) == set()
    _rebuild(memory)
    assert pairs(memory) == set()
    with memory.open() as project:
        assert {answers.show(project, id_).entry.standing for id_ in (one, two)} == {"confirmed"}


def test_a_side_that_is_retired_takes_its_conflict_along(memory: Memory) -> None:
    one, two = memory.add("decision", "Use tabs for indentation"), memory.add("decision", "Use spaces for indentation")
    other = memory.add("decision", "Retry on timeout"), memory.add("decision", "Do not retry on timeout")
    memory.act("retire", one)
    assert pairs(memory) == {frozenset(other)}
    with memory.open() as project:
        assert answers.show(project, two).entry.live


def test_a_conflict_comes_back_with_the_side_that_a_person_revives(memory: Memory) -> None:
    one, two = memory.add("decision", "Use tabs for indentation"), memory.add("decision", "Use spaces for indentation")
    memory.act("retire", one)
    assert pairs(memory) == set()
    memory.act("confirm", one)
    assert pairs(memory) == {frozenset((one, two))}


def test_an_agents_supersession_of_a_confirmed_entry_is_listed_first_as_contested(memory: Memory) -> None:
    plain = memory.add("decision", "Retry on timeout"), memory.add("decision", "Do not retry on timeout")
    old = memory.add("decision", "Ship weekly", by=PERSON)
    new = memory.add("decision", "Ship whenever it is ready", supersedes=[old])
    with memory.open() as project:
        found = answers.conflicts(project)
        waiting = {item.id for item in answers.review_queue(project)}
    assert [frozenset((pair.one.id, pair.other.id)) for pair in found] == [frozenset((old, new)), frozenset(plain)]
    assert found[0].why == "contested"
    assert waiting == {old, new}


def test_moving_head_keeps_conflicts_of_entries_that_cite_files(memory: Memory) -> None:
    one = memory.add("decision", "Use tabs for indentation", files=["README.md"])
    two = memory.add("decision", "Use spaces for indentation")
    memory.commit("Keep them")
    memory.commit("More", a_py="x = 1\n")
    assert pairs(memory) == {frozenset((one, two))}


def test_a_rebuild_lists_the_same_conflicts(memory: Memory) -> None:
    for number in range(15):
        memory.add("decision", f"Use tool{number} for task{number}")
        memory.add("pattern", f"Use other{number} for task{number}")
    found = pairs(memory)
    assert len(found) == 15
    _rebuild(memory)
    assert pairs(memory) == found


def test_a_clash_is_found_among_thousands_of_others(memory: Memory) -> None:
    old = memory.add("decision", "Use tabs for indentation")
    memory.bulk(
        [{"kind": "decision", "summary": f"Use library{n} for purpose{n % 50} of part{n}"} for n in range(2_000)]
    )
    outcome = memory.record("decision", "Use spaces for indentation", OTHER_AGENT)
    assert old in [clash.id for clash in outcome.clashes]


def test_the_table_names_ids_in_order(memory: Memory) -> None:
    memory.add("decision", "Use tabs for indentation")
    memory.add("decision", "Use spaces for indentation")
    with memory.open() as project:
        rows = project.db.execute("SELECT one, other, why FROM conflicts").fetchall()
    assert [(one < other, bool(why)) for one, other, why in rows] == [(True, True)]


def _rebuild(memory: Memory) -> None:
    with memory.open() as project:
        path = Path(project.config.places.index_path)
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
