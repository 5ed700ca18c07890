"""A correction holds: the corrected answer is given everywhere, also after a rebuild, and the history is whole."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.acceptance.surfaces import SURFACES, About, assert_absent_or_tagged, plant
from tests.acceptance.world import World, words

TEXT = "Cache the parser output"
PATH, ISSUE = "src/parse.py", "#717"
# What is put before an agent unasked or counts as true, so that no tag would help.
UNASKED = ("hook", "cli brief", "mcp brief", "mcp get", "cli stale", "cli export --format")
UNASKED_VIEWS = ("web /", "web /entries", "web /freshness", "web /conflicts")


class Corrected(NamedTuple):
    """The entry that was wrong, its mark, and mark and id of what holds instead (a neighbour, if nothing does)."""

    old: str
    wrong: str
    right: str
    new: str
    history: str


def replacement(world: World, wrong: str, right: str) -> Corrected:
    old = plant(world, "old", TEXT, PATH, ISSUE, wrong).about.id
    said = world.ask("supersede", old, f"{TEXT} by way of {right}", "--why", "it is faster")
    return Corrected(old, wrong, right, said["id"], "superseded by decision")


def opposite(world: World, wrong: str, right: str) -> Corrected:
    """Nearly the same words, and the contrary: likeness must not swallow it."""
    old = plant(world, "old", f"{TEXT} always", PATH, ISSUE, wrong).about.id
    new = world.say(
        "decide", f"Never {TEXT.lower()} at all, says {right}", "--supersedes", old, "-f", PATH, "--issue", ISSUE
    )
    return Corrected(old, wrong, right, new, "superseded by decision")


def retraction(world: World, wrong: str, right: str) -> Corrected:
    old = plant(world, "old", TEXT, PATH, ISSUE, wrong).about.id
    neighbour = plant(world, "neighbour", TEXT, PATH, ISSUE, right).about.id
    world.ask("retire", old, "--why", "it was measured and it loses")
    return Corrected(old, wrong, right, neighbour, "it was measured and it loses")


def partial(world: World, wrong: str, right: str) -> Corrected:
    """One half of a statement was right."""
    old = world.say("decide", f"{TEXT} by way of {right} and of {wrong}", "-f", PATH, "--issue", ISSUE)
    reply = world.mcp("revise_project_memory", action="supersede", id=old, summary=f"{TEXT} by way of {right} alone")
    return Corrected(old, wrong, right, reply.data["id"], "superseded by decision")


def bounded(world: World, wrong: str, right: str) -> Corrected:
    """It held, up to a day."""
    old = plant(
        world, "old", TEXT, PATH, ISSUE, wrong, "--valid-from", "2020-01-01", "--valid-until", "2024-07-01"
    ).about.id
    new = plant(world, "new", TEXT, PATH, ISSUE, right, "--valid-from", "2024-07-01").about.id
    return Corrected(old, wrong, right, new, "2024-07-01")


@pytest.mark.parametrize("shape", [replacement, opposite, retraction, partial, bounded])
def test_correction_survives_reindex(world: World, shape: Callable[[World, str, str], Corrected]) -> None:
    world.put(PATH)
    made = shape(world, *words(2, shape.__name__))
    before = {}
    for turn in ("at once", "rebuilt"):
        for surface in SURFACES:
            if surface.shows == "plain":
                assert made.right in surface.ask(world, About(TEXT, made.new, PATH, ISSUE)), surface.name
        tagged = assert_absent_or_tagged(world, About(TEXT, made.old, PATH, ISSUE), made.wrong)
        assert tagged and not [name for name in tagged if name.startswith(UNASKED) or name in UNASKED_VIEWS], tagged
        assert made.history in world.cli("show", made.old).out
        answers = [world.cli(*args).out for args in (["show", made.old], ["timeline"], ["why", PATH], ["search", TEXT])]
        assert before.setdefault("answers", answers) == answers, turn
        world.forget()
    assert {made.old, made.new} <= world.entries().keys()
    if shape is bounded:
        then = world.cli("search", *TEXT.split(), "--as-of", "2023-01-01").out
        assert made.wrong in then and made.right not in then


def test_correction_survives_reindex_in_time(world: World) -> None:
    """What the log said before the correction can still be asked for, and says what became of it since."""
    from backstory.project.answers import timeline
    from backstory.project.refresh import open_project

    world.put(PATH)
    wrong, right = words(2, "in time")
    old = plant(world, "old", TEXT, PATH, ISSUE, wrong).about.id
    with open_project(str(world.root)) as project:
        moment = project.now
    world.ask("supersede", old, f"{TEXT} by way of {right}", "--why", "it is faster")
    world.forget()
    with open_project(str(world.root)) as project:
        (then,) = timeline(project, known_at=moment)
        assert then.id == old and then.standing == "active" and "superseded today" in then.tags
        assert {view.standing for view in timeline(project)} == {"superseded", "active"}


def test_correction_retraction_without_replacement(world: World) -> None:
    """Retired without a successor, and the source is read once more: it stays out, the rest of the source is there."""
    wrong, *kept = words(3, "retraction")
    texts = [f"Finding about {mark} in the parser" for mark in (wrong, *kept)]
    for text in texts:
        world.capture("note", text, files=[world.put(PATH)], issue=ISSUE)
    ids = {view["summary"]: id_ for id_, view in world.entries().items()}
    for id_ in ids.values():
        world.judge("approve", id_)
    world.judge("retire", ids[texts[0]], "--why", "a test went wrong")
    assert [world.capture("note", text, session="again") for text in texts] == [
        "dropped",
        "corroborated",
        "corroborated",
    ]
    world.forget()
    tagged = assert_absent_or_tagged(world, About("Finding parser", ids[texts[0]], PATH, ISSUE), wrong)
    assert not [name for name in tagged if name.startswith(UNASKED) or name in UNASKED_VIEWS]
    for mark, text in zip(kept, texts[1:], strict=True):
        for surface in SURFACES:
            if surface.shows == "plain":
                assert mark in surface.ask(world, About("Finding parser", ids[text], PATH, ISSUE)), surface.name
    # An agent that says it again on its own word has it kept for a person.
    again = world.ask("note", texts[0])
    assert again["standing"] == "proposed"
    assert wrong not in world.hook().out and wrong in world.cli("review").out
