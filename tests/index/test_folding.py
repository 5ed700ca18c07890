"""The index keeps the fold: kept up to date piece by piece it says what one made at once says."""

from pathlib import Path

import pytest

from backstory.index import folding
from tests.storekit import Store, agent, assert_rebuilt_is_equal, tables


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "plain"
    folder.mkdir()
    return Store(folder).init()


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_groups_are_never_folded_apart_however_many_entries_there_are(
    store: Store, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """A rebuild works in portions; an entry and what replaces it belong into one."""
    first = store.record("the first way")
    for number in range(4):
        store.record(f"unrelated {number}")
    last = store.record("the last way", supersedes=[first])
    with store.open() as project:
        kept = tables(project)
    store.forget_index()
    monkeypatch.setattr(folding, "_AT_ONCE", at_once)
    with store.open() as project:
        assert tables(project) == kept
    found = store.standings()
    assert (found[first], found[last]) == ("superseded", "confirmed")


def test_a_standing_never_depends_on_how_many_refreshes_it_took(store: Store) -> None:
    one = store.record("one", files=["a.py"], pinned=True)
    two = store.record("two", agent("s1"), supersedes=[one])
    store.record("issue", kind="issue")
    issue = max(store.texts())
    store.record("found it", kind="fix", issue=issue)
    fix = max(store.texts())
    store.do("resolve", one, over=two)
    store.do("retire", fix)
    store.do("approve", fix)
    store.do("reject", two)
    store.do("lift", two)
    assert_rebuilt_is_equal(store)
    with store.open() as project:
        assert project.db.execute("SELECT closed FROM entries WHERE id = ?", (issue,)).fetchone()[0] == 1
        links = project.db.execute("SELECT count(*) FROM links").fetchone()[0]
    assert links


def test_only_what_changed_is_written_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An append costs the same whatever else there is."""
    for number in range(20):
        store.record(f"entry {number}")
    written: list[str] = []
    real = folding.Folding._write
    monkeypatch.setattr(
        folding.Folding,
        "_write",
        lambda self, number, held, state: (written.append(held.entry.id), real(self, number, held, state))[1],
    )
    new = store.record("the new one")
    assert written == [new]
    store.do("confirm", new)
    assert written == [new, new]


def test_a_hot_files_value_is_bound_to_its_path(store: Store) -> None:
    (store.root / "a.py").write_text("a = 1\n")
    (store.root / "b.py").write_text("b = 1\n")
    one = store.record("bites often", kind="hotfile", path="a.py")
    two = store.record("bites often", kind="hotfile", path="b.py")
    assert one != two
    store.do("reject", one)
    assert store.standings() == {one: "rejected", two: "confirmed"}


def test_the_key_of_a_redacted_value_leaves_no_trace(store: Store) -> None:
    value = "the password is hunter2swordfish"
    id_ = store.record(value)
    store.redact(id_)
    with store.open() as project:
        key = project.db.execute("SELECT value_key FROM entries WHERE id = ?", (id_,)).fetchone()[0]
        assert project.db.execute("SELECT count(*) FROM documents WHERE ref = ?", (id_,)).fetchone()[0] == 0
    assert key == folding.value_hash("[redacted]") != folding.value_hash(value)


def test_what_a_session_cited_keeps_its_latest_time_in_any_order(store: Store) -> None:
    one = store.record("one", agent("s1"), files=["a.py"])
    store.record("two", agent("s1"), files=["a.py"])
    store.do("confirm", one)
    query = "SELECT path, session, last_at FROM session_files ORDER BY path, session"
    with store.open() as project:
        kept = project.db.execute(query).fetchall()
    store.forget_index()
    with store.open() as project:
        assert project.db.execute(query).fetchall() == kept
