"""What goes stale next: soonest first, what is stale already left out, and it comes as it was told."""

from pathlib import Path

import pytest

from backstory.project import answers
from backstory.project.forecast import Forecast, forecast
from tests.project.memory import AGENT, HOOK, PERSON, Memory


@pytest.fixture
def memory(repo: Path) -> Memory:
    found = Memory(repo)
    found.commit("Start", src__pool_py="x = 1\n", src__wal_py="y = 1\n")
    return found


def told(memory: Memory) -> Forecast:
    with memory.open() as project:
        return forecast(project)


def stale(memory: Memory) -> list[str]:
    with memory.open() as project:
        return [view.id for view in answers.stale(project)]


def test_the_clock_takes_them_in_the_order_that_was_told(memory: Memory) -> None:
    note = memory.add("note", "Thirty days", PERSON)
    decision = memory.add("decision", "Ninety days", AGENT)
    trial = memory.add("trial", "Half a year", AGENT, outcome="failed")
    coming = told(memory).by_clock
    assert [item.entry.id for item in coming] == [note, decision, trial]
    assert stale(memory) == []
    for count, days in enumerate((31, 60, 90), start=1):
        memory.tick(days=days)
        assert stale(memory) == [note, decision, trial][:count]
        assert [item.entry.id for item in told(memory).by_clock] == [note, decision, trial][count:]


def test_each_is_stale_at_the_very_instant_that_was_told(memory: Memory) -> None:
    id_ = memory.add("note", "Thirty days", PERSON)
    (item,) = told(memory).by_clock
    assert item.entry.id == id_ and item.why == "not confirmed by then"
    with memory.open() as project:
        (at,) = project.db.execute("SELECT stale_at FROM entries").fetchone()
    memory.now = at - 1
    assert stale(memory) == []
    memory.now = at
    assert stale(memory) == [id_] and told(memory).by_clock == ()


def test_a_day_that_the_author_named_is_said(memory: Memory) -> None:
    memory.add("decision", "Until the release", PERSON, revisit_when="2026-01-20")
    (item,) = told(memory).by_clock
    assert "2026-01-20" in item.why and item.at.startswith("2026-01-20")


def test_the_weeks_count_what_the_clock_takes_in_them(memory: Memory) -> None:
    for number in range(3):
        memory.add("note", f"Remark {number}", PERSON)
    memory.add("decision", "Ninety days", AGENT)
    weeks = told(memory).weeks
    assert len(weeks) == 13 and weeks[4] == 3 and weeks[12] == 1 and sum(weeks) == 4


def test_what_waits_was_withdrawn_or_speaks_no_more_is_not_told(memory: Memory) -> None:
    kept = memory.add("note", "Kept", PERSON)
    memory.add("decision", "Nobody looked at it", HOOK)
    memory.act("retire", memory.add("note", "Over", PERSON), PERSON, reason="over")
    memory.add("trial", "It worked", AGENT, outcome="worked")
    assert [item.entry.id for item in told(memory).by_clock] == [kept]


def test_commits_to_a_file_are_counted_until_one_more_is_too_many(memory: Memory) -> None:
    pool = memory.add("decision", "About the pool", AGENT, files=["src/pool.py"])
    memory.add("decision", "About the log", AGENT, files=["src/wal.py"])
    with memory.open() as project:
        most = project.config.settings.churn_commits
    counts = []
    for number in range(most):
        assert stale(memory) == []
        counts.append([(item.entry.id, item.commits, item.limit) for item in told(memory).by_commits])
        memory.tick(days=1)
        memory.commit(f"Change {number}", src__pool_py=f"x = {number + 10}\n")
    assert counts[0] == [] and counts[-1] == [(pool, most - 1, most)]
    assert all(len(found) <= 1 for found in counts)
    assert stale(memory) == [pool] and told(memory).by_commits == ()


def test_a_missing_file_that_turns_up_under_another_name_is_found_by_whoever_asks_for_what_is_stale(
    memory: Memory,
) -> None:
    lines = "".join(f"def step_{n}(x):\n    return x + {n}\n\n\n" for n in range(6))
    memory.commit("More", src__steps_py=lines)
    plain = memory.add("decision", "About the whole file", AGENT, files=["src/steps.py"])
    exact = memory.add("decision", "About one step", AGENT, files=["src/steps.py#step_3"])
    (memory.root / "src/steps.py").unlink()
    memory.tick()
    assert set(stale(memory)) == {plain, exact}
    # By hand, elsewhere and unknown to git: only a text that was kept tells that it is the same.
    memory.put("lib/moved.py", lines)
    assert stale(memory) == [plain]
    # And told to git, it is the same file for both.
    memory.git("add", "-A")
    assert stale(memory) == []
    memory.git("rm", "-q", "--cached", "lib/moved.py")
    (memory.root / "lib/moved.py").unlink()
    memory.tick(days=1)
    assert set(stale(memory)) == {plain, exact}
