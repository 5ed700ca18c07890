from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project import answers, gateway
from backstory.project.opened import Project
from backstory.project.redaction import redact
from backstory.project.reviewing import Review, added, candidate, queue, take_back
from tests.project.memory import AGENT, HOOK, PERSON, Memory


@pytest.fixture
def project(repo, monkeypatch):  # type: ignore[no-untyped-def]
    memory = Memory(repo)
    opened = memory.open()
    yield opened
    opened.close()


def proposed(project: Project, text: str, kind: str = "decision") -> str:
    id_ = gateway.record(project, HOOK, kind, {"summary": text}).id
    assert standing(project, id_) == "proposed"
    return id_


def standing(project: Project, id_: str) -> str:
    return answers.one_view(project, id_).standing


def test_a_candidate_shows_what_resembles_it_and_the_calls_that_settle_it(project: Project) -> None:
    known = gateway.record(project, PERSON, "note", {"summary": "Retry uploads five times before giving up"}).id
    other = gateway.record(project, PERSON, "note", {"summary": "Bake bread on Sundays"}).id
    id_ = proposed(project, "Retry uploads five times before giving up for good", "note")
    (one,) = queue(project)
    assert one.id == id_
    assert [clash.id for clash in one.similar] == [known] and other not in str(one.similar)
    assert one.calls == (
        f"backstory approve {id_[-6:]}",
        f'backstory reject {id_[-6:]} --why "REASON"',
        f'backstory supersede {id_[-6:]} "NEW TEXT"',
        f"backstory supersede {id_[-6:]} --by {known[-6:]}",
    )
    assert candidate(project, known).calls == ()


@pytest.mark.parametrize("action", ["approve", "reject", "edit", "merge", "skip"])
def test_each_action_does_what_it_says_and_its_undo_brings_all_back(project: Project, action: str) -> None:
    into = gateway.record(project, AGENT, "decision", {"summary": "Retry uploads five times"}).id
    id_ = proposed(project, "Bake bread on Sundays")
    before = {name: answers.one_view(project, name) for name in (id_, into)}
    review = Review(project, PERSON)
    extra = {"reject": ("it is wrong",), "edit": ("Bake cake on Mondays",), "merge": (into,)}.get(action, ())
    done = getattr(review, action)(id_, *extra)
    after = {"approve": "confirmed", "reject": "rejected", "edit": "superseded", "merge": "superseded"}
    assert standing(project, id_) == after.get(action, "proposed")
    assert standing(project, into) == ("confirmed" if action == "merge" else "active")
    assert review.decided == (action != "skip")
    assert review.undo() == done
    assert {name: answers.one_view(project, name) for name in (id_, into)} == before
    assert (review.decided, review.undo()) == (0, None)
    if action == "edit":
        assert standing(project, done.outcome.id) == "retired"
    # What was taken back can be done again.
    review.approve(id_)
    assert standing(project, id_) == "confirmed"


@pytest.mark.parametrize("both", [False, True])
def test_a_settled_conflict_is_taken_back_for_both_sides(project: Project, both: bool) -> None:
    old = gateway.record(project, PERSON, "decision", {"summary": "Retry three times"}).id
    new = gateway.record(project, AGENT, "decision", {"summary": "Retry five times", "supersedes": [old]}).id
    before = [answers.one_view(project, id_) for id_ in (old, new)]
    assert [one.standing for one in before] == ["contested", "contested"]
    review = Review(project, PERSON)
    (review.both if both else review.approve)(old)
    assert [standing(project, id_) for id_ in (old, new)] == ["confirmed", "confirmed" if both else "superseded"]
    review.undo()
    assert [answers.one_view(project, id_) for id_ in (old, new)] == before


def test_an_edit_to_what_another_entry_says_makes_the_candidate_give_way_to_it(project: Project) -> None:
    into = gateway.record(project, AGENT, "decision", {"summary": "Retry uploads five times"}).id
    id_ = proposed(project, "Bake bread on Sundays")
    review = Review(project, PERSON)
    review.edit(id_, "Retry uploads five times")
    assert answers.one_view(project, id_).superseded_by == (into,)
    review.undo()
    assert (standing(project, id_), standing(project, into)) == ("proposed", "active")


def test_undo_is_a_persons_alone(project: Project) -> None:
    id_ = proposed(project, "Bake bread on Sundays")
    with pytest.raises(BackstoryError, match="Only a person"):
        Review(project, AGENT)
    done = Review(project, PERSON).approve(id_)
    with pytest.raises(BackstoryError, match="Only a person"):
        take_back(project, AGENT, done.events[0])
    # A forged line of an agent has no effect; a person's has.
    for by, then in ((AGENT, "confirmed"), (PERSON, "proposed")):
        fields = {"kind": "undo", "target": id_, "undoes": done.events[0], "reason": "why"}
        gateway.write(project, [gateway.operation(project, by, fields)])
        assert standing(project, id_) == then


def test_an_undo_that_names_a_word_about_another_entry_has_no_effect(project: Project) -> None:
    one, two = proposed(project, "Bake bread on Sundays"), proposed(project, "Retry five times")
    done = Review(project, PERSON).approve(one)
    fields = {"kind": "undo", "target": two, "undoes": done.events[0], "reason": "why"}
    gateway.write(project, [gateway.operation(project, PERSON, fields)])
    assert (standing(project, one), standing(project, two)) == ("confirmed", "proposed")
    take_back(project, PERSON, done.events[0])
    assert standing(project, one) == "proposed"


def test_what_was_added_is_listed_by_day_and_by_session(project: Project) -> None:
    mine = proposed(project, "Bake bread on Sundays")
    other = gateway.record(project, PERSON, "decision", {"summary": "Retry five times"}).id
    assert [one.id for one in added(project, session=HOOK.session)] == [mine]
    assert {one.id for one in added(project, since=project.now - 1)} == {mine, other}
    assert added(project, since=project.now + 1) == []


def test_a_redaction_cannot_be_undone(project: Project) -> None:
    id_ = proposed(project, "Bake bread on Sundays")
    approved = Review(project, PERSON).approve(id_).events[0]
    redact(project, PERSON, id_, "not for others")
    (event,) = project.db.execute("SELECT id FROM events WHERE kind = 'redact'").fetchone()
    with pytest.raises(BackstoryError, match="cannot be undone"):
        take_back(project, PERSON, event)
    # Not by a line that somebody wrote by hand either.
    for undone in (event, approved):
        fields = {"kind": "undo", "target": id_, "undoes": undone, "reason": "why"}
        gateway.write(project, [gateway.operation(project, PERSON, fields)])
        assert standing(project, id_) == "retired"


def test_undone_decisions_stay_undone_after_a_rebuild_and_in_another_clone(repo: Path, tmp_path: Path) -> None:
    memory = Memory(repo)
    with memory.open() as project:
        into = gateway.record(project, AGENT, "decision", {"summary": "Retry uploads five times"}).id
        ids = {action: proposed(project, text) for action, text in TEXTS.items()}
        extra = {"reject": ("it is wrong",), "edit": ("Sweep the roof on Mondays",), "merge": (into,)}
        review = Review(project, PERSON)
        for action, id_ in ids.items():
            getattr(review, action)(id_, *extra.get(action, ()))
        decided = {action: standing(project, id_) for action, id_ in ids.items()}
    memory.commit("Decided")
    clone = Memory(tmp_path / "clone", started=clone_of(memory, tmp_path / "clone"))
    assert standings_in(clone, ids) == decided
    assert decided == {"approve": "confirmed", "reject": "rejected", "edit": "superseded", "merge": "superseded"}
    # The other clone writes as well, so that git has to merge.
    with clone.open() as project:
        proposed(project, "Paint the fence green")
    clone.now = memory.now
    clone.commit("Elsewhere")
    with memory.open() as project:
        review.project = project
        while review.undo():
            pass
    memory.commit("Undone")
    clone.now = memory.now
    clone.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    for where in (memory, clone):
        assert set(standings_in(where, ids).values()) == {"proposed"}
        derived = list((where.root / ".git" / "backstory").glob("index.sqlite*"))
        assert derived
        for path in derived:
            path.unlink()
        assert set(standings_in(where, ids).values()) == {"proposed"}
        assert standings_in(where, {"into": into}) == {"into": "active"}


TEXTS = {
    "approve": "Bake bread on Sundays", "reject": "Wash the car by hand", "edit": "Sweep the chimney",
    "merge": "Feed the neighbour's cat",
}  # fmt: skip


def clone_of(memory: Memory, path: Path) -> bool:
    memory.git("clone", "-q", str(memory.root), str(path))
    return True


def standings_in(memory: Memory, ids: dict[str, str]) -> dict[str, str]:
    with memory.open() as project:
        return {name: standing(project, id_) for name, id_ in ids.items()}
