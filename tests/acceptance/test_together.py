"""The seven properties at once in one store, and nine edits behind its back that no reader passes over."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.records.codec import canonical
from backstory.surfaces.cli.registry import COMMANDS
from tests.acceptance.surfaces import (
    SURFACES,
    About,
    assert_absent,
    assert_absent_or_tagged,
    assert_shown,
    plant,
    plant_controls,
)
from tests.acceptance.world import Said, World, words
from tests.cli.terminal import Seat
from tests.log.test_tampering import Tampered, forged
from tests.storekit import copy_tree

TEXT = "Cache the parser output"
PATH, ISSUE = "src/parse.py", "#717"


def test_the_seven_properties_hold_at_once(world: World, other: World) -> None:
    *marks, wrong, first, second = words(7, "seven")
    controls = plant_controls(world, TEXT, PATH, ISSUE, marks)
    old = plant(
        world, "old", TEXT, PATH, ISSUE, first, "--valid-from", "2020-01-01", "--valid-until", "2024-07-01"
    ).about.id
    plant(world, "new", TEXT, PATH, ISSUE, second, "--valid-from", "2024-07-01")
    before = [path.read_bytes() for path in world.truth()]

    # A tombstone keyed on the value: other entries, other writers and disguises are caught alike.
    bad = plant(world, "bad", TEXT, PATH, ISSUE, wrong)
    world.judge("reject", bad.about.id, "--why", "it was measured and it loses")
    for text in (f"{TEXT} by way of {wrong}", f"  {TEXT.upper()}, by way of {wrong}!"):
        assert world.cli("note", text).code == 4
        assert world.mcp("record_project_memory", kind="pattern", summary=text).failed
        assert world.capture("note", text) == "refused"

    # A trust state that withholds, and a place where a person decides: what waits is seen there and nowhere unasked.
    waiting = controls["waiting"]
    unasked = [s for s in SURFACES if s.name.startswith(("hook", "cli brief", "mcp get", "cli export --format"))]
    assert_absent(world, waiting.about, waiting.mark, unasked)
    seat = Seat(["review", "--plain"], world.root, columns=200)
    for awaited, typed in ((waiting.mark, ""), ("[q]uit ?", "a"), ("approved", "q")):
        seat.wait_for(awaited)
        time.sleep(0.4)
        seat.type(typed)
    seat.finish()
    assert world.standing(waiting.about.id) == "confirmed"
    assert waiting.mark in world.cli("brief", "--budget", "2000").out

    # Two axes of time: what held then by today's knowledge, and what the log said then.
    held = world.cli("search", *TEXT.split(), "--as-of", "2023-05-05").out
    assert first in held and second not in held
    now = world.cli("search", *TEXT.split(), "--limit", "50").out
    assert second in now and first not in now
    assert world.cli("search", *TEXT.split(), "--known-at", "2023-05-05").out == ""

    # Scope on the read path: the neighbour that says the same things is never read along.
    other.say("decide", f"{TEXT} over there", "-f", other.put(PATH), "--issue", ISSUE)
    assert_absent(other, bad.about, wrong)
    for mark in marks:
        assert_absent(other, controls["plain"].about, mark, unasked)

    # An audit that only grows: every mutation is a line more, and no line that was there is another one now.
    after = [path.read_bytes() for path in world.truth()]
    assert all(new.startswith(was) for was, new in zip(before, after, strict=True))
    lines = [json.loads(line) for line in after[0].splitlines()]
    assert all(line["by"]["kind"] and line["at"] and line["h"] for line in lines)
    assert {line["kind"] for line in lines if "target" in line} == {"reject", "approve"}
    assert world.ask("verify")["sound"]

    # Negative retrieval, with its controls, before and after everything derived is gone.
    del controls["waiting"]
    for _ in range(2):
        assert_absent_or_tagged(world, bad.about, wrong)
        assert_absent_or_tagged(world, About(TEXT, old, PATH, ISSUE), first)
        assert_shown(world, controls)
        world.forget()


# --- nine edits behind the store's back ------------------------------------------------------------------------


def content(tampered: Tampered, aside: Path) -> None:
    tampered.lines = [line.replace(b"gamma", b"omega") for line in tampered.lines]


def tail_cut(tampered: Tampered, aside: Path) -> None:
    tampered.lines = tampered.lines[:3]


def middle_deletion(tampered: Tampered, aside: Path) -> None:
    tampered.lines = [line for number, line in enumerate(tampered.lines) if number != 1]


def reordering(tampered: Tampered, aside: Path) -> None:
    lines = tampered.lines
    tampered.lines = [lines[0], lines[2], lines[1], *lines[3:]]


def forged_insertion(tampered: Tampered, aside: Path) -> None:
    lines = tampered.lines
    tampered.lines = [*lines[:2], forged(tampered, 1), *lines[2:]]


def replay_from_another_project(tampered: Tampered, aside: Path) -> None:
    other = Tampered(aside / "other", tampered.setting)
    tampered.lines = [*tampered.lines, other.lines[1]]


def replay_of_an_older_line(tampered: Tampered, aside: Path) -> None:
    tampered.truth.with_name("202602-abcdefgh-00000000.jsonl").write_bytes(tampered.lines[1])


def metadata(tampered: Tampered, aside: Path) -> None:
    lines = tampered.lines
    lines[2] = canonical(json.loads(lines[2]) | {"by": {"kind": "person", "name": "Somebody"}, "pinned": True}) + b"\n"
    tampered.lines = lines


def rollback(tampered: Tampered, aside: Path) -> None:
    copy_tree(tampered.store.root, aside / "backup")
    tampered.store.record("epsilon five")
    tampered.store.standings()
    shutil.rmtree(tampered.store.root)
    copy_tree(aside / "backup", tampered.store.root)


EDITS = (
    content, tail_cut, middle_deletion, reordering, forged_insertion, replay_from_another_project,
    replay_of_an_older_line, metadata, rollback,
)  # fmt: skip
# `verify` and `doctor` read afresh and say it in their answer; the others warn beside theirs.
OWN_WORDS = ("verify", "doctor")
WARNING = "run `backstory verify`"


def ask_everything(world: World, id_: str) -> dict[str, Said]:
    """Every reading command, what it said."""
    args = {
        "search": ["alpha"],
        "sessions search": ["alpha"],
        "sessions show": ["session-one"],
        "why": ["README.md"],
        "show": [id_],
        "case": [id_],
        "ticket show": ["none"],
    }
    args |= {"history query": ["SELECT summary FROM entries"], "history search": ["alpha"]}
    args |= {"history semantic": ["alpha"]}
    # What is asked of the machine-wide log or of the list of projects reads no project's log.
    wide = ("global ", "projects ")
    reading = [name for name, command in COMMANDS.items() if command.reads and not name.startswith(wide)]
    return {name: world.cli(*name.split(), *args.get(name, [])) for name in reading}


@pytest.mark.parametrize("setting", ["uncommitted", "committed"])
def test_an_untouched_store_raises_nothing(tmp_path: Path, setting: str) -> None:
    """The twin of the nine: no command, tool or hook has anything to say."""
    tampered = Tampered(tmp_path / "project", setting)
    world = World(tampered.store.root)
    for _ in range(2):
        for name, said in ask_everything(world, tampered.ids[0]).items():
            assert WARNING not in said.err and said.code in (0, 2), (name, said)
        assert world.cli("verify").code == 0
        assert "notices" not in world.mcp("get_project_memory").data
        assert world.hook().err == ""
        world.forget()


@pytest.mark.parametrize("edit", EDITS)
def test_each_of_nine_edits_is_reported_to_every_reader(tmp_path: Path, edit: Callable[[Tampered, Path], None]) -> None:
    """With the index that was there and with one made anew. An edited text is believed by none of them."""
    tampered = Tampered(tmp_path / "project", "committed")
    world = World(tampered.store.root)
    ask_everything(world, tampered.ids[0])
    edit(tampered, tmp_path)
    for turn in range(2):
        # The hook first: a session may be the first to read after the edit.
        assert WARNING in world.hook().err, turn
        for name, said in ask_everything(world, tampered.ids[0]).items():
            assert "omega" not in said.out and "Somebody" not in said.out, (name, said)
            if name not in OWN_WORDS:
                assert WARNING in said.err, (turn, name, said)
        reply = world.mcp("search_project_memory", query="alpha")
        assert "the log has" in reply.text and reply.data["notices"]
        assert world.cli("verify").code == 5 and "not sound" in world.cli("verify").out
        assert world.cli("doctor").code == 5
        assert world.ask("status")["problems"] >= 1
        world.forget()


def test_an_older_line_said_again_in_its_own_shard_changes_nothing(tmp_path: Path) -> None:
    """The other half of the replay: refused, so that there is nothing to report."""
    tampered = Tampered(tmp_path / "project", "committed")
    tampered.lines = [*tampered.lines, tampered.lines[1]]
    world = World(tampered.store.root)
    assert world.standing(tampered.ids[1]) == "retired"
    assert world.ask("verify")["folded"] == 1
