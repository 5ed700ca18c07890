"""What a refresh leaves for later, or counts by its difference, says the same as doing it whole."""

from backstory.project import answers, catching_up
from backstory.recall.brief import count_stale
from tests.project.memory import AGENT, Memory

DAY = 86_400_000_000


def test_conflicts_of_a_bulk_are_found_when_somebody_asks(memory: Memory) -> None:
    rows = [{"kind": "decision", "summary": f"Module number {n} has an owner"} for n in range(catching_up.AT_ONCE + 5)]
    rows += [{"kind": "decision", "summary": f"The response cache is {word}"} for word in ("enabled", "not enabled")]
    ids = memory.bulk(rows)
    with memory.open() as project:
        waiting = project.db.execute("SELECT count(*) FROM uncompared").fetchone()[0]
        assert waiting > catching_up.AT_ONCE
        pairs = {frozenset((pair.one.id, pair.other.id)) for pair in answers.conflicts(project)}
        assert frozenset(ids[-2:]) in pairs
        assert project.db.execute("SELECT count(*) FROM uncompared").fetchone()[0] == 0


def test_what_aged_since_the_last_count_is_added_to_it(memory: Memory) -> None:
    for days in (5, 10, 400):
        memory.add("note", f"holds for {days} days", by=AGENT, decay_days=days)
    with memory.open() as project:
        counted = [count_stale(project.db, project.now + days * DAY) for days in (0, 6, 11, 401)]
        project.db.execute("DELETE FROM index_meta WHERE key IN ('count:stale', 'stale_from', 'stale_until')")
        whole = [count_stale(project.db, project.now + days * DAY) for days in (0, 6, 11, 401)]
    assert counted == whole == [0, 1, 2, 3]
