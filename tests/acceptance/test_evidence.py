"""Every line that is put before an agent can be followed to what it rests on, and only the log is needed for that."""

import json
import re

from backstory.records.registry import KINDS
from tests.acceptance import hooks
from tests.acceptance.surfaces import SURFACES, About, plant
from tests.acceptance.world import World, ids_in, start, words
from tests.storekit import git

TEXT = "Cache the parser output"
PATH, ISSUE = "src/parse.py", "#717"


def test_evidence_claim_resolves_to_source(world: World) -> None:
    """A memory filled by person, agent, MCP, two captures and an import: no injected line is an orphan."""
    world.put(PATH, "".join(f"def part_{n}():\n    return {n}\n" for n in range(9)))
    head = world.commit("code")
    marks = words(6, "sources")
    world.judge("decide", f"{TEXT} {marks[0]}", "-f", f"{PATH}:3-4", "--ticket", "T-7")
    world.say("tried", f"Without a cache {marks[1]}", "--failed", "too slow", "-f", f"{PATH}#part_2", session="s-agent")
    world.mcp("record_project_memory", kind="pattern", summary=f"One file one job {marks[2]}", file_refs=[PATH])
    for session in ("s-cap-1", "s-cap-2"):
        world.capture("note", f"Capture saw {marks[3]}", session=session, files=[PATH])
    world.ask(
        "lesson", f"Told with proof {marks[4]}", "--evidence", "run 2026-04-15 of make bench", "--commit", head[:9]
    )
    with start(world.root.parent / "elsewhere") as foreign:
        foreign.say("decide", f"Brought in {marks[5]}")
        exported = world.root.parent / "elsewhere.jsonl"
        exported.write_text(foreign.cli("export", "--format", "jsonl").out)
    world.ask("import", str(exported))
    brought = next(id_ for id_, view in world.entries().items() if marks[5] in view["summary"])
    world.judge("approve", brought)

    injected = {*ids_in(world.hook().out.replace("\\n", "\n")), *ids_in(world.cli("brief", "--budget", "2000").out)}
    assert len(injected) == 6
    for (client, event), moment in hooks.SPEAKS.items():
        if moment == hooks.START:
            given = set(ids_in(hooks.ask(world, client, event, PATH)))
            assert given and given <= injected, (client, event)
    told = set(ids_in(world.mcp("brief", budget=2000).text))
    assert told and told <= injected
    lines = {event["id"]: event for path in world.truth() for event in map(json.loads, path.read_text().splitlines())}
    for short in injected:
        view = world.ask("show", short)["entry"]
        assert view["id"] in lines and lines[view["id"]]["summary"] == view["fields"]["summary"]
        assert view["evidence"] or view["by"]["kind"] == "person", view
        for claim in [*view["evidence"], *view["files"]]:
            assert _resolves(world, claim, exported.read_text().splitlines(), view), claim
    reply = world.mcp("get_project_memory")
    assert all(item.get("sources") or item["by"]["kind"] == "person" for item in reply.data["entries"])


def _resolves(world: World, claim: str, exported: list[str], view: dict) -> bool:
    """Whether the thing that an entry cites is there, or names the one who said it."""
    what, _, value = claim.partition(" ")
    if what == "commit":
        return git(world.root, "cat-file", "-t", value) == "commit"
    if what == "session":
        return value in (view["by"].get("session"), "session-one")
    if what == "ticket":
        return value == "T-7"
    if what == "import":
        name, _, line = value.partition(":")
        return name == "elsewhere.jsonl" and json.loads(exported[int(line) - 1])["summary"] == view["summary"]
    if what == "event":
        return json.loads(exported[0])["id"] == value
    if what in ("recorded", "run"):
        return bool(re.search(r"\d{4}-\d\d-\d\d", value))
    path, _, lines = claim.partition(":")
    path, _, symbol = path.partition("#")
    text = (world.root / path).read_text()
    return f"def {symbol}" in text and len(text.splitlines()) >= int((lines or "1").split("-")[-1])


def test_evidence_rebuild_from_retained(world: World) -> None:
    """Everything derived is deleted; each door gives each token back, and every answer is the same to the letter."""
    world.put(PATH)
    marks = dict(zip(KINDS, words(len(KINDS), "rebuild"), strict=True))
    ids = {}
    for kind, mark in marks.items():
        fields = {"path": PATH} if kind == "hotfile" else {"file_refs": [PATH]}
        fields |= {"issue": ISSUE} if kind != "issue" else {}
        reply = world.mcp("record_project_memory", kind=kind, summary=f"{TEXT} {mark}", **fields)
        ids[kind] = reply.data["id"]
    gone = plant(world, "gone", TEXT, PATH, ISSUE, "nothing")
    world.ask("supersede", gone.about.id, f"{TEXT} something", "--why", "it is better")
    world.judge("reject", "--value", "Never retry", "--why", "it lost data")
    world.commit("memory")
    about = About(TEXT, ids["decision"], PATH, ISSUE)
    shown = [surface for surface in SURFACES if surface.shows]
    before = {surface.name: surface.ask(world, about) for surface in shown}
    world.forget()
    assert {surface.name: surface.ask(world, about) for surface in shown} == before
    for kind, mark in marks.items():
        assert mark in world.cli("search", mark).out and mark in world.mcp("search_project_memory", query=mark).text
        assert mark in world.cli("brief", "--budget", "2000", "--for", PATH).out, kind
    assert world.cli("decide", "Never retry").code == 4
