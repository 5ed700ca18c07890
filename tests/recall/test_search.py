"""Search with the live filter: what counts now, and what holds instead of what was asked for."""

from backstory.project import answers
from backstory.recall.search import SearchAnswer
from tests.project.memory import HOOK, PERSON, Memory


def search(memory: Memory, query: str, **options: object) -> SearchAnswer:
    with memory.open() as project:
        return answers.search(project, query, **options)  # type: ignore[arg-type]


def refs(answer: SearchAnswer) -> list[str]:
    return [hit.ref for hit in answer.hits]


def test_only_what_counts_now_is_found_and_every_standing_when_asked(memory: Memory) -> None:
    live = memory.add("note", "the walrus sleeps in the live cave")
    gone = {
        "retired": memory.add("note", "the walrus sleeps in the retired cave"),
        "rejected": memory.add("note", "the walrus sleeps in the rejected cave"),
        "superseded": memory.add("note", "the walrus sleeps in the superseded cave"),
        "proposed": memory.add("note", "the walrus sleeps in the proposed cave", by=HOOK),
        "expired": memory.add("note", "the walrus sleeps in the expired cave", valid_until="2026-01-06"),
    }
    new = memory.add("note", "the walrus sleeps in the new cave", supersedes=[gone["superseded"]])
    memory.act("retire", gone["retired"])
    memory.act("reject", gone["rejected"])
    memory.tick(days=2)
    assert set(refs(search(memory, "walrus cave"))) == {live, new}
    for standing, id_ in gone.items():
        answer = search(memory, "walrus cave", standings=[standing])
        assert refs(answer) == [id_]
        assert answer.hits[0].entry is not None and answer.hits[0].entry.standing == standing
    assert set(refs(search(memory, "walrus cave", standings=["active"]))) == {live, new}


def test_the_limit_stays_full_when_the_best_matches_do_not_count(memory: Memory) -> None:
    dead = memory.bulk([{"kind": "note", "summary": "walrus walrus walrus"} for _ in range(40)])
    memory.bulk(
        [{"kind": "retire", "target": id_, "reason": "wrong"} for id_ in dead], {"kind": "person", "name": "Ada"}
    )
    live = memory.bulk(
        [{"kind": "note", "summary": f"a long remark number {n} that names a walrus once"} for n in range(8)]
    )
    answer = search(memory, "walrus", limit=5)
    assert len(answer.hits) == 5 and set(refs(answer)) <= set(live)
    assert answer.more
    assert set(refs(search(memory, "walrus", limit=50))) == set(live)


def test_asking_for_something_superseded_is_answered_with_what_holds(memory: Memory) -> None:
    old = memory.add("decision", "Store the cache in Redis")
    middle = memory.add("decision", "Store the cache on disk", supersedes=[old])
    new = memory.add("decision", "Keep no cache at all", supersedes=[middle])
    answer = search(memory, "redis cache")
    assert old not in refs(answer)
    (found,) = [item for item in answer.instead if item.asked.id == old]
    assert found.why.startswith("superseded")
    assert [item.id for item in found.holds] == [new]
    assert search(memory, "cache", standings=["superseded"]).instead == ()


def test_asking_for_something_rejected_or_retired_says_so_and_why(memory: Memory) -> None:
    rejected, retired = memory.add("decision", "Use Memcached"), memory.add("decision", "Use Varnish")
    memory.act("reject", rejected, reason="it loses data")
    memory.act("retire", retired, reason="never deployed")
    for query, id_, why in (
        ("memcached", rejected, "rejected: it loses data"),
        ("varnish", retired, "retired: never deployed"),
    ):
        answer = search(memory, query)
        assert answer.hits == ()
        assert [(item.asked.id, item.why, item.holds) for item in answer.instead] == [(id_, why, ())]


def test_asking_for_a_turned_down_alternative_is_answered_with_the_decision(memory: Memory) -> None:
    id_ = memory.add("decision", "Use Postgres for storage", alternatives_rejected=["MongoDB: no joins", "SQLite"])
    memory.add("decision", "Ship weekly", alternatives_rejected=["daily"])
    answer = search(memory, "mongodb")
    assert refs(answer) == [id_]
    assert [(item.asked.id, item.holds[0].id) for item in answer.instead] == [(id_, id_)]
    assert "MongoDB" in answer.instead[0].why
    assert search(memory, "postgres storage").instead == ()


def test_a_query_that_is_like_nothing_here_finds_nothing(memory: Memory) -> None:
    memory.add("decision", "Use Postgres for storage")
    memory.add("note", "the build needs the network")
    for query in ("zebra migration patterns", "", "!!! ---", "the of and", "\0"):
        answer = search(memory, query)
        assert answer.hits == () and answer.instead == ()
    assert len(search(memory, "postgres").hits) == 1


def test_filters_by_kind_path_and_time(memory: Memory) -> None:
    memory.put("src/a.py", "x = 1\n")
    one = memory.add("decision", "the walrus decides", files=["src/a.py"])
    middle = memory.tick(days=1)
    two = memory.add("note", "the walrus remarks")
    assert refs(search(memory, "walrus", kinds=["decision"])) == [one]
    assert refs(search(memory, "walrus", kinds=["notes"])) == [two]
    assert refs(search(memory, "walrus", path="src")) == [one]
    assert refs(search(memory, "walrus", path="./src/a.py")) == [one]
    assert refs(search(memory, "walrus", since=middle)) == [two]
    assert refs(search(memory, "walrus", until=middle)) == [one]


def test_a_stale_or_absent_entry_is_found_with_its_tag(memory: Memory) -> None:
    stale = memory.add("note", "the walrus ages")
    memory.git("checkout", "-q", "-b", "feature")
    away = memory.add("note", "the walrus is away")
    memory.commit("Keep it")
    memory.git("checkout", "-q", "main")
    memory.tick(days=40)
    tags = {hit.ref: " ".join(hit.entry.tags) for hit in search(memory, "walrus").hits if hit.entry}
    assert "stale: age" in tags[stale]
    assert "not in this tree, branch feature" in tags[away]


def test_contested_entries_are_found_and_tagged_with_their_other_side(memory: Memory) -> None:
    old = memory.add("decision", "the walrus is brown", by=PERSON)
    new = memory.add("decision", "the walrus is grey", supersedes=[old])
    tags = {hit.ref: hit.entry.tags for hit in search(memory, "walrus").hits if hit.entry}
    assert tags == {old: (f"contested with {new[-6:]}",), new: (f"contested with {old[-6:]}",)}
