"""Redaction: the one change of a written line. The text is gone everywhere, all else is byte for byte as it was."""

import json
import os
from pathlib import Path

import pytest

from backstory.errors import Exit
from backstory.log.redact import blank, files_of, still_readable
from backstory.project import answers
from backstory.project.verifying import verify
from tests.storekit import Store, agent, assert_rebuilt_is_equal, hook, refused

SECRET = "hunter2swordfish"


@pytest.fixture
def store(repo: Path) -> Store:
    made = Store(repo).init()
    made.record("the first of them")
    return made


@pytest.mark.parametrize("private", [False, True])
def test_the_text_is_gone_from_log_journal_and_index_and_the_chain_stands(repo: Path, private: bool) -> None:
    store = Store(repo).init(private=private)
    store.record("a sibling")
    id_ = store.record(f"key {SECRET}", detail=f"{SECRET} again", aliases=[SECRET], files=[f"{SECRET}.py"])
    store.record("after it")
    assert store.bytes_everywhere().count(SECRET.encode()) >= 4
    store.redact(id_)
    assert SECRET.encode() not in store.bytes_everywhere()
    assert store.standings()[id_] == "retired"
    assert sorted(store.texts().values()) == ["[redacted]", "a sibling", "after it"]
    store.assert_sound()
    assert_rebuilt_is_equal(store)


def test_who_and_why_stay_and_the_line_keeps_its_links(store: Store) -> None:
    id_ = store.record(f"key {SECRET}", agent("s7"))
    before = {json.loads(line)["id"]: json.loads(line) for line in store.shards()[0].read_bytes().splitlines()}[id_]
    store.redact(id_)
    lines = [json.loads(line) for line in store.shards()[0].read_bytes().splitlines()]
    (after,) = [line for line in lines if line["id"] == id_]
    for name in ("id", "h", "prev", "shard", "at", "by", "kind"):
        assert after[name] == before[name]
    (operation,) = [line for line in lines if line["kind"] == "redact"]
    assert (operation["target"], operation["reason"], operation["by"]["kind"]) == (id_, "a secret", "person")
    with store.open() as project:
        assert "redact" in str(answers.show(project, id_))


def test_only_a_person_redacts(store: Store) -> None:
    from backstory.project.redaction import redact

    id_ = store.record(f"key {SECRET}")
    for by in (agent(), hook()):
        with store.open() as project:
            assert refused(redact, project, by, id_, "because").code == Exit.REFUSED
    assert store.texts()[id_] == f"key {SECRET}"
    with store.open() as project:
        assert refused(redact, project, agent(), id_, "").hint


def test_a_second_time_is_refused(store: Store) -> None:
    id_ = store.record(f"key {SECRET}")
    store.redact(id_)
    assert refused(store.redact, id_).code == Exit.REFUSED
    for action in ("confirm", "approve", "retire", "contest", "reject", "resolve"):
        assert refused(store.do, action, id_).code == Exit.REFUSED, action


def test_bad_lines_stay_as_they_are_but_for_the_one_that_names_the_event(store: Store) -> None:
    id_ = store.record(f"key {SECRET}")
    (shard,) = store.shards()
    broken = b'{"id":"' + id_.encode() + b'","summary":"' + SECRET.encode() + b" and no end"
    junk = [b"<<<<<<< HEAD", b"\x00\xff not json", b"", broken, b"torn {"]
    shard.write_bytes(shard.read_bytes() + b"\n".join(junk) + b"\n")
    store.redact(id_)
    assert SECRET.encode() not in store.bytes_everywhere()
    data = b"".join(path.read_bytes() for path in store.shards())
    for line in (junk[0], junk[1], junk[4]):
        assert b"\n" + line + b"\n" in data


def test_a_line_that_a_tool_re_formatted_is_blanked_too(store: Store) -> None:
    id_ = store.record(f"key {SECRET}")
    (shard,) = store.shards()
    shard.write_text("".join(json.dumps(json.loads(line)) + "\r\n" for line in shard.read_text().splitlines()))
    store.redact(id_)
    assert SECRET.encode() not in store.bytes_everywhere()
    assert b'{"redacted":true}' not in shard.read_bytes()
    assert {item.why for item in store.verify().problems} == set()


def test_an_entry_that_merely_names_the_event_keeps_its_text(store: Store) -> None:
    id_ = store.record(f"key {SECRET}")
    other = store.record(f'see "id":"{id_}" there', supersedes=[id_])
    store.redact(id_)
    assert store.texts()[other].startswith("see")
    assert store.standings() == store.standings() | {id_: "retired", other: "confirmed"}


def test_what_still_has_text_is_found_in_one_pass(store: Store) -> None:
    ids = [store.record(f"entry {number}") for number in range(3)]
    paths = files_of(store.config)
    assert still_readable(paths, ids) == set(ids)
    assert still_readable([*paths, "/nowhere"], [*ids, "0" * 26]) == set(ids)
    assert sorted(blank(store.config, [ids[0]])) == sorted(paths)
    assert still_readable(paths, ids) == {ids[1], ids[2]}
    assert blank(store.config, [ids[0]]) == []


def test_a_file_that_cannot_be_rewritten_is_named_and_done_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = store.record(f"key {SECRET}")
    real = os.replace

    def replace(source: str, target: str) -> None:
        if str(target).endswith(".jsonl"):
            raise PermissionError(13, "permission denied", target)
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        error = refused(store.redact, id_)
        assert "still holds the text" in error.message and error.hint
        with store.open() as project:
            assert any("still holds the text" in notice for notice in project.notices)
        with store.open() as project:
            assert any("still holds the text" in notice for notice in project.notices)
    assert store.standing(id_) == "retired"
    assert SECRET.encode() not in store.bytes_everywhere()
    store.assert_sound()
    assert not list(store.root.rglob("*.redact"))


def test_an_agent_that_forges_the_operation_blanks_nothing(store: Store) -> None:
    """Authority is judged again where the log is read: a merged line may come from anywhere."""
    from backstory.log.append import append
    from backstory.records.ids import new_id
    from backstory.records.times import format_instant

    id_ = store.record("stays readable")
    now = store.clock()
    forged = {"kind": "redact", "id": new_id(now), "at": format_instant(now), "by": {"kind": "agent"}, "target": id_,
              "blank": "0" * 32, "reason": "because"}  # fmt: skip
    append(store.config, "main", [forged], now)
    assert store.texts()[id_] == "stays readable"
    assert store.standings()[id_] == "confirmed"
    assert b"stays readable" in store.shards()[0].read_bytes()
    store.assert_sound()


def test_a_blanked_line_that_nobody_vouches_for_is_an_edit(store: Store) -> None:
    id_ = store.record(f"key {SECRET}")
    blank(store.config, [id_])
    report = verify(store.config, store.clock())
    assert {item.why for item in report.problems} == {"hash", "prev"} or "hash" in {i.why for i in report.problems}
    assert "hash" in {item.why for item in store.problems()}


def test_every_later_append_costs_no_search_for_old_redactions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from backstory.project import catching_up

    for number in range(3):
        store.redact(store.record(f"key {number} {SECRET}"))
    searched: list[object] = []
    monkeypatch.setattr(catching_up, "still_readable", lambda paths, ids: searched.append(ids) or set())
    store.record("one more")
    store.record("and one more")
    assert searched == []
