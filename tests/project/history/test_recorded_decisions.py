"""Decision records are proposed decisions of the memory, by what their files say."""

from backstory.project import answers
from tests.project.history.sources import DECISION, Sources
from tests.project.memory import PERSON


def _standing(memory: Sources) -> dict[str, str]:
    with memory.open() as project:
        rows = project.db.execute("SELECT id FROM entries WHERE source = 'adr' ORDER BY id").fetchall()
        views = [answers.one_view(project, row[0]) for row in rows]
    return {view.summary: view.standing for view in views}


def test_an_accepted_record_is_a_proposed_decision_that_search_finds_tagged(sources: Sources) -> None:
    sources.refresh()
    assert _standing(sources) == {"Use one queue for all uploads": "proposed"}
    with sources.open() as project:
        (hit,) = answers.search(project, "queues starved", sources=("entry",)).hits
    assert hit.entry is not None
    assert {"proposed", "read from a decision record"} <= set(hit.entry.tags)
    assert "decision record docs/adr/0001-one-queue.md; status there: accepted" in hit.entry.evidence
    assert hit.entry.fields["rationale"] == "We use one queue with priorities."


def test_it_waits_in_no_queue_and_a_person_can_approve_it(sources: Sources) -> None:
    sources.refresh()
    with sources.open() as project:
        assert answers.review_queue(project) == []
        (row,) = project.db.execute("SELECT id FROM entries WHERE source = 'adr'").fetchall()
    sources.act("approve", row[0], PERSON)
    sources.put("docs/adr/0002-other.md", DECISION.format(status="Accepted").replace("one queue", "two queues"))
    sources.refresh()
    assert sorted(_standing(sources).values()) == ["confirmed", "proposed"]


def test_a_rejected_record_is_retired_and_a_superseded_one_names_its_successor(sources: Sources) -> None:
    sources.put("docs/adr/0002-no.md", "# Use no queue\n\nStatus: Rejected\n\n## Context\nA\n\n## Decision\nB\n")
    sources.put(
        "docs/adr/0003-new.md",
        "# Use a broker\n\nStatus: Accepted, supersedes [0001](0001-one-queue.md)\n\n## Context\nA\n\n## Decision\nB\n",
    )
    sources.refresh()
    assert _standing(sources) == {
        "Use a broker": "proposed",
        "Use no queue": "retired",
        "Use one queue for all uploads": "superseded",
    }
    with sources.open() as project:
        found = answers.search(project, "one queue for all uploads", sources=("entry",))
    assert [item.asked.summary for item in found.instead] == ["Use one queue for all uploads"]


def test_a_record_that_goes_takes_its_entry_along(sources: Sources) -> None:
    sources.refresh()
    assert len(_standing(sources)) == 1
    (sources.root / "docs" / "adr" / "0001-one-queue.md").unlink()
    sources.refresh()
    assert _standing(sources) == {}
