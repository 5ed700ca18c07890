"""Any story of writes, operations, branches, merges, kills and rebuilds gives the answers of a model in plain code."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from backstory.errors import BackstoryError
from backstory.log import faults
from backstory.project import answers, gateway, operations, publishing, redaction
from backstory.records.event import By
from tests.state.model import AGENT, HOOK, LIVE, PERSON, Model, Said
from tests.storekit import Clock, Store, assert_rebuilt_is_equal, git, new_repo

SESSIONS = ("", "s1", "s2", "s3")
writers = st.sampled_from((PERSON, PERSON, AGENT, AGENT, HOOK))
sessions = st.sampled_from(SESSIONS)
picks = st.integers(min_value=0, max_value=1 << 16)
BRANCHES = ("main", "side", "other")


class Killed(BaseException):
    """Stands for `kill -9`: nothing of ours catches it."""


def by(writer: str, session: str) -> By:
    return By(writer, "Ada" if writer == PERSON else "x", "" if writer == PERSON else session)


class Memory(RuleBasedStateMachine):
    """One clone with three branches, a second clone that is pulled from, and the model beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memory"))
        self.clock = Clock()
        self.store = Store(new_repo(self.folder / "repo"), self.clock).init()
        self.store.commit("memory")
        self.model = Model()
        self.count = 0
        self.there: Store | None = None
        self.there_model = Model()

    def teardown(self) -> None:
        try:
            self.store.assert_sound()
            assert_rebuilt_is_equal(self.store)
        finally:
            shutil.rmtree(self.folder)

    # -- small hands

    def number(self) -> int:
        self.count += 1
        return self.count

    def entry(self, pick: int) -> str:
        entries = self.model.entries()
        return entries[pick % len(entries)].id if entries else ""

    def fresh_text(self) -> str:
        number = self.number()
        return f"token{number:04d}x{number * 7919 % 10007:05d}"

    def write_entry(self, text: str, writer: str, session: str, supersedes: str) -> None:
        """Through the gateway; the model learns what became of it from what the gateway promises."""
        session = "" if writer == PERSON else session
        model, before = self.model, self.model.standings()
        same = [item for item in model.entries() if item.value == text and item.id not in model.redacted()]
        stood = {before[item.id] for item in same}
        fields = {"summary": text, **({"supersedes": [supersedes]} if supersedes else {})}
        with self.store.open() as project:
            try:
                done = gateway.record(project, by(writer, session), "note", fields)
            except BackstoryError:
                assert text in model.rejected()
                return
        assert text not in model.rejected()
        alive = {*LIVE, "proposed"}
        withdrawn = bool(same) and not stood & alive
        if withdrawn and writer == HOOK:
            assert done.status == "dropped"
            return
        twins = [item for item in same if item.id in model.tree and before[item.id] in alive]
        if twins and not supersedes:
            assert done.status == "corroborated" and done.id in {item.id for item in twins}
            model.add(Said(self.number(), f"{done.id} again {self.count}", "confirm", writer, session, target=done.id))
            return
        assert done.status == "recorded"
        held = withdrawn and writer != PERSON
        model.add(Said(self.number(), done.id, "note", writer, session, text, supersedes=supersedes, held=held))

    def operate(self, name: str, target: str, writer: str, session: str, **extra: Any) -> None:
        session = "" if writer == PERSON else session
        who = by(writer, session)
        calls: dict[str, Callable[[Any], Any]] = {
            "lift": lambda project: operations.lift(project, who, target, "because"),
            "redact": lambda project: redaction.redact(project, who, target, "because"),
        }
        usual: Callable[[Any], Any] = lambda project: operations.operate(  # noqa: E731
            project, who, name, target, reason="because", **extra
        )
        before = self.model.standings()
        with self.store.open() as project:
            try:
                calls.get(name, usual)(project)
            except BackstoryError:
                # A refusal has a ground in what is known, or in who asks, and changes nothing (the invariant looks).
                grounds = ("rejected", "superseded", "retired")
                assert writer != PERSON or before[target] in grounds or name == "lift", (name, before[target])
                return
        assert writer == PERSON or (writer == AGENT and name in ("confirm", "retire", "contest"))
        number = self.number()
        self.model.add(Said(number, f"{name} {number}", name, writer, session, target=target, **extra))

    # -- rules

    @initialize()
    def first(self) -> None:
        self.write_entry(self.fresh_text(), PERSON, "", "")

    @rule(writer=writers, session=sessions)
    def record(self, writer: str, session: str) -> None:
        self.write_entry(self.fresh_text(), writer, session, "")

    @rule(writer=writers, session=sessions, pick=picks)
    def repeat(self, writer: str, session: str, pick: int) -> None:
        entry = self.entry(pick)
        if entry and entry not in self.model.redacted():
            self.write_entry(self.model.said[entry].value, writer, session, "")

    @rule(writer=writers, session=sessions, pick=picks)
    def supersede(self, writer: str, session: str, pick: int) -> None:
        self.write_entry(self.fresh_text(), writer, session, self.entry(pick))

    @rule(
        name=st.sampled_from(("confirm", "retire", "reject", "approve", "contest", "lift")),
        writer=writers, session=sessions, pick=picks,
    )  # fmt: skip
    def act(self, name: str, writer: str, session: str, pick: int) -> None:
        if self.entry(pick):
            self.operate(name, self.entry(pick), writer, session)

    @rule(pick=picks)
    def lift_what_is_rejected(self, pick: int) -> None:
        rejected = [item.id for item in self.model.entries() if self.model.standings()[item.id] == "rejected"]
        if rejected:
            self.operate("lift", rejected[pick % len(rejected)], PERSON, "")

    @rule(pick=picks, other=picks, both=st.booleans())
    def resolve(self, pick: int, other: int, both: bool) -> None:
        kept, lost = self.entry(pick), self.entry(other)
        if kept and kept != lost:
            self.operate("resolve", kept, PERSON, "", over=lost, both=both)

    @rule(pick=picks)
    def redact(self, pick: int) -> None:
        target = self.entry(pick)
        if target and target not in self.model.redacted():
            self.operate("redact", target, PERSON, "")
            text = self.model.said[target].value
            with_it = [item for item in self.model.entries() if item.value == text]
            if all(item.id in self.model.redacted() for item in with_it):
                assert text.encode() not in self.store.bytes_everywhere()

    @rule(pick=picks)
    def publish(self, pick: int) -> None:
        elsewhere = [item.id for item in self.model.entries() if item.id not in self.model.tree]
        if elsewhere:
            id_ = elsewhere[pick % len(elsewhere)]
            with self.store.open() as project:
                publishing.publish(project, [id_])
            self.model.tree.update(item.id for item in self.model.known if id_ in (item.id, item.target))

    @rule(to=st.sampled_from(BRANCHES))
    def switch(self, to: str) -> None:
        self.store.commit("before the switch")
        if to not in self.model.trees:
            self.store.git("branch", to)
            self.model.trees[to] = set(self.model.tree)
        self.store.git("switch", "-q", to)
        self.model.branch = to

    @rule(what=st.sampled_from(BRANCHES))
    def merge(self, what: str) -> None:
        if what in self.model.trees:
            self.store.commit("before the merge")
            self.store.git("merge", "-q", "--no-edit", what)
            self.model.tree.update(self.model.trees[what])

    @rule()
    def undo_last_commit(self) -> None:
        """What was in it is then only in the journal, or nowhere if another clone wrote it."""
        before = set(self.model.tree)
        self.store.commit("kept")
        self.model.tree.update(before)
        with contextlib.suppress(IndexError):
            text = self.fresh_text()
            self.write_entry(text, PERSON, "", "")
            self.store.commit("undone")
            self.store.git("reset", "-q", "--hard", "HEAD~1")
            self.model.trees[self.model.branch] = before

    @rule(session=sessions, pick=picks)
    def another_clone_writes_and_is_pulled(self, session: str, pick: int) -> None:
        self.store.commit("before the pull")
        there = Store(self.folder / f"there{self.number()}", self.clock)
        git(self.folder, "clone", "-q", "-b", self.model.branch, str(self.store.root), str(there.root))
        here = [item.id for item in self.model.entries() if item.id in self.model.tree]
        text = self.fresh_text()
        id_ = there.record(text, by(AGENT, session))
        self.model.add(Said(self.number(), id_, "note", AGENT, session, text), journal=False)
        if here:
            target = here[pick % len(here)]
            with contextlib.suppress(BackstoryError):
                there.do("confirm", target, by(AGENT, session))
                number = self.number()
                self.model.add(Said(number, f"{number}", "confirm", AGENT, session, target=target), journal=False)
        there.commit("there")
        self.store.git("pull", "-q", "--no-rebase", "--no-edit", str(there.root), self.model.branch)
        shutil.rmtree(there.root)

    @rule(point=st.sampled_from([point for point in faults.POINTS if not point.startswith("redact.")]))
    def killed_while_recording(self, point: str) -> None:
        text, number = self.fresh_text(), self.number()

        def trip(name: str) -> None:
            if name == point:
                raise Killed

        with self.store.open() as project, pytest.MonkeyPatch.context() as patch:
            patch.setattr(faults, "trip", trip)
            with contextlib.suppress(Killed):
                gateway.record(project, by(PERSON, ""), "note", {"summary": text})
        found = [id_ for id_, summary in self.store.texts().items() if summary == text]
        assert len(found) == int(point not in ("append.locked", "append.pending"))
        for id_ in found:
            self.model.add(Said(number, id_, "note", PERSON, "", text))

    @rule(pick=picks, point=st.sampled_from(("redact.recorded", "redact.written", "redact.replaced", "refresh.begun")))
    def killed_while_redacting(self, pick: int, point: str) -> None:
        target = self.entry(pick)
        if not target or target in self.model.redacted():
            return

        def trip(name: str) -> None:
            if name == point:
                raise Killed

        with self.store.open() as project, pytest.MonkeyPatch.context() as patch:
            patch.setattr(faults, "trip", trip)
            with contextlib.suppress(Killed):
                redaction.redact(project, by(PERSON, ""), target, "because")
        number = self.number()
        self.model.add(Said(number, f"redact {number}", "redact", PERSON, "", target=target))

    @rule()
    def forget_the_index(self) -> None:
        self.store.forget_index()

    @rule()
    def break_the_index(self) -> None:
        path = self.store.config.places.index_path
        if os.path.exists(path):
            self.store.forget_index()
            Path(path).write_bytes(b"SQLite format 3\0 no more" * 300)

    @rule()
    def rebuilt_is_equal(self) -> None:
        assert_rebuilt_is_equal(self.store)

    @rule(seconds=st.integers(min_value=-100, max_value=10_000))
    def the_clock_moves(self, seconds: int) -> None:
        """Also backwards: what a person says about an entry still comes after it."""
        self.clock.now += seconds * 1_000_000

    @rule()
    def verify(self) -> None:
        self.store.assert_sound()

    @rule(pick=picks)
    def search_finds_the_live_and_nothing_else(self, pick: int) -> None:
        entry = self.entry(pick)
        if not entry:
            return
        text = self.model.said[entry].value
        expected = {
            item.id
            for item in self.model.entries()
            if item.value == text and self.model.standings()[item.id] in LIVE and item.id not in self.model.redacted()
        }
        with self.store.open() as project:
            hits = {hit.ref for hit in answers.search(project, text, limit=50).hits if hit.source == "entry"}
        assert hits == expected

    # -- what must always hold

    @invariant()
    def standings_are_the_models(self) -> None:
        assert self.store.standings() == dict(sorted(self.model.standings().items()))

    @invariant()
    @precondition(lambda self: self.count % 3 == 0)
    def the_tree_holds_what_the_model_says(self) -> None:
        assert self.store.in_tree() == {item.id for item in self.model.entries() if item.id in self.model.tree}


Memory.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestMemory(Memory.TestCase):  # type: ignore[misc, name-defined]
    """Run by pytest; hypothesis prints the shortest story that breaks."""
