"""What a person rejected stays out: restated, aged, disguised, merged in or extracted once more."""

import time
import unicodedata
from pathlib import Path

import pytest

from tests.acceptance.surfaces import SURFACES, About, assert_absent_or_tagged, assert_shown, plant, plant_controls
from tests.acceptance.world import World, copied, words
from tests.acceptance.writers import WRITERS
from tests.storekit import PERSON_BY, Clock, Store, agent, git

TEXT = "Cache the parser output"
PATH, ISSUE = "src/parse.py", "#717"
DAY = 86_400_000_000
# The doors by which the same source is read again.
AGAIN = tuple(w for w in WRITERS if w.name in ("cli ci ingest", "cli import of another project", "hook"))
DOORS = tuple(
    w for w in WRITERS if w.name in ("cli decide", "cli import of another project", "mcp record decision", "hook")
)


def restate(world: World, text: str) -> None:
    """Say it again through one door of each sort; none lets it in."""
    assert len(DOORS) == 4
    for door in DOORS:
        verdict, said = door.say(world, text)
        assert verdict in ("refused", "dropped"), (door, verdict, said)


def test_tombstone_laundering_sequence(world: World, tmp_path: Path) -> None:
    """Rejected, superseded, restated, corroborated, merged in from a clone that did not know: it stays out."""
    *marks, wrong = words(5, "laundering")
    controls = plant_controls(world, TEXT, PATH, ISSUE, marks)
    bad = plant(world, "bad", TEXT, PATH, ISSUE, wrong)
    value = f"{TEXT} by way of {wrong}"
    world.commit("memory")
    clone = World(tmp_path / "clone")
    git(tmp_path, "clone", "-q", str(world.root), str(clone.root))

    world.judge("reject", bad.about.id, "--why", "it was measured and it loses")
    better = world.say("decide", "Parse once for each file and keep nothing", "--supersedes", bad.about.id)
    restate(world, value)
    assert world.cli("supersede", better, value, "--why", "back to the old way").code == 4
    for session in ("s-2", "s-3"):
        env = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}
        assert world.cli("confirm", bad.about.id, env=env).code == 4
        assert world.capture("decision", value, session=session) == "refused"
    assert world.mcp("revise_project_memory", action="confirm", id=bad.about.id).failed
    assert world.cli("retire", better, "--why", "no use").code == 0
    assert world.cli("lift", bad.about.id).code == 4
    clone.say("decide", value, "--why", "it was measured once more", session="s-9")
    clone.commit("restated elsewhere")
    world.commit("rejected here")
    git(world.root, "pull", "-q", "--no-rebase", "--no-edit", str(clone.root), "main")

    for _ in range(2):
        assert world.standing(bad.about.id) == "rejected"
        tagged = assert_absent_or_tagged(world, bad.about, wrong)
        assert {"cli show", "cli timeline", "cli review --rejected"} & set(tagged)
        assert not [
            name for name in tagged if name.startswith(("hook", "cli brief", "mcp brief", "mcp get", "cli stale"))
        ]
        assert "it was measured and it loses" in world.cli("review", "--rejected").out
        assert_shown(world, controls)
        world.forget()
    assert sum(wrong in view["summary"] for view in world.entries().values()) == 2


def test_tombstone_laundering_sequence_through_the_history_of_another(world: World) -> None:
    """What replaced an entry and was then rejected or retired, or only proposed to, is told of with a tag."""
    *marks, plain = words(4, "history")
    world.put(PATH)
    old = plant(world, "old", TEXT, PATH, ISSUE, plain)
    for mark in marks[:2]:
        world.say("decide", f"{TEXT} by way of {mark}", "--supersedes", old.about.id, "--issue", ISSUE)
    world.capture("decision", f"{TEXT} by way of {marks[2]}", supersedes=[old.about.id], issue=ISSUE)
    ids = {mark: next(i for i, v in world.entries().items() if mark in v["summary"]) for mark in marks}
    world.judge("reject", ids[marks[0]], "--why", "it lost data")
    world.judge("retire", ids[marks[1]], "--why", "the module is gone")
    for mark in marks:
        assert {"cli show", "cli timeline"} <= set(assert_absent_or_tagged(world, old.about, mark))
    shown = world.cli("show", old.about.id).out
    assert plain in shown and "it lost data" in world.cli("show", ids[marks[0]]).out


def test_tombstone_survives_ageing(world: World) -> None:
    """Three years and every clean-up later, and ten years after that, the value is refused; its twin is recalled."""
    wrong, right = words(2, "ageing")
    now = time.time_ns() // 1000
    store = Store(world.root, Clock(now - 1100 * DAY))
    ids = [
        store.record(f"{TEXT} by way of {mark}", agent(), "decision", files=[world.put(PATH)])
        for mark in (wrong, right)
    ]
    store.do("reject", ids[0], PERSON_BY, why="it was measured and it loses")
    twin = About(TEXT, ids[1], PATH, ISSUE)
    for step in ("as it is", "gc", "rebuilt"):
        if step == "gc":
            assert world.cli("gc").code == 0 and world.cli("doctor", "--fix").code == 0
        elif step == "rebuilt":
            world.forget()
        restate(world, f"{TEXT} by way of {wrong}")
        assert_absent_or_tagged(world, twin._replace(id=ids[0]), wrong)
        for surface in SURFACES:
            if surface.shows == "plain" and not surface.name.startswith(
                ("cli brief", "hook", "cli case", "mcp brief", "mcp case", "web /case", "cli export --format block")
            ):
                assert right in surface.ask(world, twin), surface.name
        assert "age" in world.cli("stale").out and right in world.cli("stale").out
    assert "Stale (1 withheld)" in world.hook().out
    later = Store(world.root, Clock(now + 3650 * DAY))
    with pytest.raises(Exception, match="it was measured and it loses"):
        later.record(f"{TEXT} by way of {wrong}", agent("s-later"), "decision")
    assert later.record(f"{TEXT} by way of {right}", agent("s-later"), "decision") == ids[1]


WRONG = "Never retry on timeout"
# The same words to a reader: look-alike letters, case, spaces, what cannot be seen, width, marks around them.
DISGUISES = (
    "never RETRY on Timeout",
    "  Never   retry\ton\n timeout ",
    "Nev\u0435r r\u0435try \u043en tim\u0435out",
    "N\u03b5ver retry \u03bfn time\u03bfut".replace("\u03b5", "e"),
    "Never re\u200btry on time\u00adout",
    "Never\u2060 retry\ufeff on\u202e timeout\u202c",
    unicodedata.normalize("NFKC", "Never retry on timeout").translate({i: i + 0xFEE0 for i in range(0x21, 0x7F)}),
    "\u24c3\u24d4\u24e5\u24d4\u24e1 retry on timeout",
    "\U0001d40d\U0001d41e\U0001d42f\U0001d41e\U0001d42b retry on timeout",
    "Never retry on timeout!",
    "`Never retry on timeout`.",
    "Never retry\u00a0on\u3000timeout",
    "Never retry on timeout\U000e0041",
    '"Never, retry; on (timeout)"',
)


def test_tombstone_key_normalisation(world: World) -> None:
    """No disguise gets a rejected value through; what only resembles it is stored and waits for a person."""
    world.judge("reject", "--value", WRONG, "--why", "it lost data")
    for text in DISGUISES:
        said = world.cli("decide", text)
        assert said.code == 4 and "it lost data" in said.err, (text, said)
        assert world.mcp("record_project_memory", kind="note", summary=text).failed, text
        assert world.capture("note", text) == "refused", text
    assert world.entries() == {}
    near = world.ask("decide", "Never retry on any timeout")
    assert near["standing"] == "proposed" and "resembles a rejected value" in world.cli("review").out
    assert near["id"][-6:] in world.cli("review").out and near["id"][-6:] not in world.cli("export").out
    assert "Never retry on any timeout" not in world.hook().out
    far = world.ask("decide", "Give up at once when the server is slow")
    assert far["standing"] == "active" and "Give up at once" in world.hook().out


def test_tombstone_reextraction_stays_out(world: World) -> None:
    """The findings of one session are read in again and again: what was taken out stays out, in any form of out."""
    rejected, retired, replaced, *kept = words(6, "extracted")
    found = [f"Finding about {mark} in the parser" for mark in (rejected, retired, replaced, *kept)]
    for text in found:
        assert world.capture("note", text, files=[world.put(PATH)], issue=ISSUE) == "recorded"
    ids = {
        mark: next(i for i, v in world.entries().items() if mark in v["summary"])
        for mark in (rejected, retired, replaced)
    }
    for id_ in world.entries():
        world.judge("approve", id_)
    world.judge("reject", ids[rejected], "--why", "a test went wrong")
    world.judge("retire", ids[retired], "--why", "the module is gone")
    (better,) = words(1, "better")
    world.judge("supersede", ids[replaced], f"Finding about {better} in the parser", "--why", "said better")
    known = set(world.entries())
    for session in ("session-cap", "session-cap", "session-other", "session-third"):
        again = "known" if session == "session-cap" else "corroborated"
        report = [world.capture("note", text, session=session, files=[PATH], issue=ISSUE) for text in found]
        assert report == ["refused", "dropped", "dropped", *[again] * len(kept)]
        report = [world.capture("note", text, by="import", session=session) for text in found[:3]]
        assert report == ["refused", "dropped", "dropped"]
        world.forget()
    assert set(world.entries()) == known
    about = {mark: About("Finding parser", id_, PATH, ISSUE) for mark, id_ in ids.items()}
    for mark, asked in about.items():
        tagged = assert_absent_or_tagged(world, asked, mark)
        assert not [
            name for name in tagged if name.startswith(("hook", "cli brief", "mcp brief", "mcp get", "cli stale"))
        ]
    for mark in (*kept, better):
        id_ = next(i for i, v in world.entries().items() if mark in v["summary"])
        for surface in SURFACES:
            if surface.shows == "plain":
                assert mark in surface.ask(world, About("Finding parser", id_, PATH, ISSUE)), (surface, mark)


def test_tombstone_no_second_unit(world: World) -> None:
    """A rejected value comes again by every reader of sources: no entry of any standing is made, and each says so."""
    wrong, kept, fresh = words(3, "second unit")
    rejected, neighbour = (f"Finding about {mark} in the parser" for mark in (wrong, kept))
    for text in (rejected, neighbour):
        assert world.capture("note", text, files=[world.put(PATH)], issue=ISSUE) == "recorded"
    for id_, view in world.entries().items():
        world.judge(*(["reject", id_, "--why", "a test went wrong"] if wrong in view["summary"] else ["approve", id_]))
    known = world.entries()
    assert len(AGAIN) == 3
    for text in (rejected, f"  {rejected.upper()} !"):
        for door in AGAIN:
            verdict, said = door.say(world, text)
            assert verdict in ("refused", "dropped"), (door, verdict, said)
        for session in ("session-cap", "session-other"):
            assert world.capture("note", text, session=session, files=[PATH], issue=ISSUE) == "refused"
    assert world.capture("note", neighbour, session="session-other", files=[PATH]) == "corroborated"
    for _ in range(2):
        assert world.entries().keys() == known.keys()
        (carrier,) = [view for view in world.entries().values() if wrong in view["summary"]]
        assert carrier["standing"] == "rejected"
        tagged = assert_absent_or_tagged(world, About("Finding parser", carrier["id"], PATH, ISSUE), wrong)
        assert not [
            name for name in tagged if name.startswith(("hook", "cli brief", "mcp brief", "cli export --format"))
        ]
        world.forget()
    # The control: something new of the same reading is stored, and the neighbour is one entry on every surface.
    assert world.capture("note", f"Finding about {fresh} in the parser", files=[PATH], issue=ISSUE) == "recorded"
    assert len(world.entries()) == len(known) + 1
    (id_,) = [id_ for id_, view in world.entries().items() if kept in view["summary"]]
    for surface in SURFACES:
        if surface.shows == "plain":
            assert kept in surface.ask(world, About("Finding parser", id_, PATH, ISSUE)), surface


def test_tombstone_laundering_sequence_by_a_copy_or_a_clone(world: World, tmp_path: Path) -> None:
    """A copied project keeps its rejections, and so does a clone that never had the journal."""
    world.judge("reject", "--value", WRONG, "--why", "it lost data")
    world.commit("memory")
    git(tmp_path, "clone", "-q", str(world.root), str(tmp_path / "clone"))
    for twin in (copied(world, tmp_path / "copy"), World(tmp_path / "clone")):
        restate(twin, WRONG)
        assert twin.ask("note", "Another thing")["standing"] == "active"
