"""The memory at another time: what held then, and what was known then."""

import contextlib
import itertools
import random
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.recall import past
from tests.project.memory import AGENT, DAY, PERSON, Memory


class History:
    """One correction of each shape, ten days after the first word."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.old = {
            "replacement": memory.add("decision", "The deploy runs on Friday"),
            "opposite": memory.add("decision", "Retry on timeout"),
            "retraction": memory.add("decision", "The cache lives in Redis"),
            "partial": memory.add("decision", "Support Linux, macOS and Windows"),
            "bounded": memory.add("decision", "Freeze the schema", valid_until="2026-01-20"),
        }
        self.control = memory.add("decision", "Ids sort by time")
        self.before = memory.now
        memory.tick(days=10)
        new = {
            "replacement": "The deploy runs on Monday",
            "opposite": "Do not retry on timeout",
            "partial": "Support Linux and macOS",
        }
        self.new = {shape: memory.add("decision", text, supersedes=[self.old[shape]]) for shape, text in new.items()}
        memory.act("retire", self.old["retraction"], AGENT)
        self.after = memory.tick(days=10)
        memory.tick(days=1)

    def at(self, **when: int) -> dict[str, str]:
        with self.memory.open() as project:
            return {item.id: item.standing for item in answers.timeline(project, **when)}

    def hits(self, query: str, **when: int) -> list[str]:
        with self.memory.open() as project:
            return [hit.ref for hit in answers.search(project, query, **when).hits]


QUERIES = {
    "replacement": "deploy runs", "opposite": "retry timeout", "retraction": "cache redis", "partial": "support linux",
    "bounded": "freeze schema",
}  # fmt: skip


@pytest.mark.parametrize("rebuilt", [False, True])
@pytest.mark.parametrize("shape", QUERIES)
def test_each_shape_of_correction_is_seen_from_before_and_after(memory: Memory, shape: str, rebuilt: bool) -> None:
    history = History(memory)
    if rebuilt:
        with memory.open() as project:
            index = Path(project.config.places.index_path)
        for suffix in ("", "-wal", "-shm"):
            index.with_name(index.name + suffix).unlink(missing_ok=True)
    old, new = history.old[shape], history.new.get(shape)
    for axis in ("as_of", "known_at"):
        before, after = history.at(**{axis: history.before}), history.at(**{axis: history.after})
        live = {id_ for id_, standing in after.items() if standing in ("active", "confirmed", "contested")}
        assert before[old] == "active"
        assert new is None or new not in before
        assert old not in live
        assert new is None or new in live
        assert before[history.control] == after[history.control] == "active"
        assert old in history.hits(QUERIES[shape], **{axis: history.before})
        assert old not in history.hits(QUERIES[shape], **{axis: history.after})
        assert new is None or history.hits(QUERIES[shape], **{axis: history.after}) == [new]
    assert old not in history.hits(QUERIES[shape])


def test_before_the_first_word_nothing_held(memory: Memory) -> None:
    memory.now += DAY
    id_ = memory.add("note", "a remark")
    with memory.open() as project:
        assert answers.timeline(project, known_at=memory.now - DAY) == []
        assert [item.id for item in answers.timeline(project, known_at=memory.now)] == [id_]
        assert answers.timeline(project, as_of=memory.now - DAY) == []


def test_what_was_true_before_it_was_recorded_holds_then_but_was_not_known(memory: Memory) -> None:
    id_ = memory.add("decision", "We moved to Python 3.11", valid_from="2025-06-01")
    july = memory.now - 180 * DAY
    with memory.open() as project:
        assert [item.id for item in answers.timeline(project, as_of=july)] == [id_]
        assert answers.timeline(project, known_at=july) == []


def test_what_was_rejected_since_never_held_but_was_believed(memory: Memory) -> None:
    wrong, right = memory.add("decision", "The disk is the bottleneck"), memory.add("decision", "The lock is")
    then = memory.now
    memory.tick(days=1)
    memory.act("reject", wrong)
    with memory.open() as project:
        assert [item.id for item in answers.timeline(project, as_of=then)] == [right]
        assert {item.id for item in answers.timeline(project, known_at=then)} == {right, wrong}
        assert "rejected today" in next(
            item.tags for item in answers.timeline(project, known_at=then) if item.id == wrong
        )


def test_both_axes_together_ask_what_was_then_believed_to_hold(memory: Memory) -> None:
    old = memory.add("decision", "Use tabs", by=PERSON)
    then = memory.now
    memory.tick(days=5)
    new = memory.add("decision", "Use spaces", by=PERSON, supersedes=[old], valid_from="2026-01-01")
    with memory.open() as project:
        assert [item.id for item in answers.timeline(project, as_of=then, known_at=then)] == [old]
        assert [item.id for item in answers.timeline(project, as_of=then)] == [new]


def _random_history(memory: Memory, rng: random.Random) -> list[str]:
    """Forty steps of all that moves a standing; the ids of the entries."""
    ids = [memory.add("decision", f"Use library number {number}") for number in range(4)]
    steps = {
        "supersede": lambda target: ids.append(memory.add("decision", f"Use choice {len(ids)}", supersedes=[target])),
        "record": lambda target: ids.append(memory.add("note", f"Remark {len(ids)}")),
        "retire": lambda target: memory.act("retire", target, PERSON),
        "reject": lambda target: memory.act("reject", target, PERSON),
        "contest": lambda target: memory.act("contest", target, AGENT, against=rng.choice(ids)),
        "resolve": lambda target: memory.act("resolve", target, PERSON, over=rng.choice(ids)),
    }
    for _ in range(40):
        memory.tick(days=rng.choice((0, 1)))
        with contextlib.suppress(BackstoryError):
            steps[rng.choice(list(steps))](rng.choice(ids))
    return ids


@pytest.mark.parametrize("seed", range(3))
def test_asked_for_a_few_entries_the_past_says_what_it_says_of_all(memory: Memory, seed: int) -> None:
    """Only what they are linked with is folded: a rejected value and a replacement far away still count."""
    rng = random.Random(seed)
    ids = _random_history(memory, rng)
    with memory.open() as project:
        for ask, moment in itertools.product((past.known_at, past.as_of), (memory.now - 9 * DAY, memory.now)):
            every = ask(project.db, moment)
            assert every
            for _ in range(10):
                some = rng.sample(ids, 3)
                assert ask(project.db, moment, ids=some) == {id_: every[id_] for id_ in some if id_ in every}
        for name, ask in (("as_of", past.as_of), ("known_at", past.known_at)):
            held = ask(project.db, memory.now - 7 * DAY)
            shown = answers.timeline(project, limit=1_000, **{name: memory.now - 7 * DAY})
            assert {item.id: item.standing for item in shown} == {id_: item.standing for id_, item in held.items()}
            assert answers.timeline(project, limit=3, **{name: memory.now - 7 * DAY}) == shown[:3]
