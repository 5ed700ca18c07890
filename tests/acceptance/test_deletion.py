"""What was taken out is gone from every door after a rebuild and a restart, and the log says who did it and why."""

import json

from tests.acceptance.surfaces import (
    SURFACES,
    About,
    assert_absent,
    assert_absent_or_tagged,
    assert_shown,
    plant,
    plant_controls,
)
from tests.acceptance.world import SESSION, World, words

TEXT = "Cache the parser output"
PATH, ISSUE, USING = "src/parse.py", "#717", "src/models.py"
# Where an entry that ended may still be found, tagged: nothing of the rest knows it.
FINDABLE = (
    "cli search",
    "cli why",
    "cli show",
    "cli timeline",
    "cli case",
    "cli export --all",
    "mcp search",
    "mcp case",
    "projectmem",
    "resource",
    "web /timeline",
    "web /log",
    "web /search",
    "web /entry/",
    "web /case/",
    "web /file/",
    "web /entries standing=all",
)


def test_deletion_absent_after_reindex_and_restart(world: World) -> None:
    """Of one batch an entry is retired, one redacted, one left: rebuild, restart, and every door."""
    *marks, gone, secret = words(6, "deletion")
    world.serve()
    controls = plant_controls(world, TEXT, PATH, ISSUE, marks)
    retired = plant(world, "batch", TEXT, PATH, ISSUE, gone)
    blanked = plant(
        world, "batch", TEXT, PATH, ISSUE, secret, "--detail", f"with {secret} in the detail", "--why", secret
    )
    assert world.cli("retire", retired.about.id, "--why", "the parser was rewritten", env=SESSION).code == 0
    world.judge("redact", blanked.about.id, "--why", "it quotes a customer")
    exported = world.cli("export", "--all", "--format", "jsonl").out
    for _ in range(2):
        tagged = assert_absent_or_tagged(world, retired.about, gone)
        assert tagged and not [name for name in tagged if not name.startswith(FINDABLE)]
        assert_absent(world, blanked.about, secret)
        assert secret.encode() not in world.every_byte()
        assert_shown(world, controls)
        world.forget()
    for id_, who, why in (
        (retired.about.id, "claude-code", "the parser was rewritten"),
        (blanked.about.id, "Test Person", "it quotes a customer"),
    ):
        shown = world.cli("show", id_).out
        assert who in shown and why in shown
        (operation,) = [item for item in world.ask("show", id_)["history"] if item["kind"] in ("retire", "redact")]
        assert operation["by"]["name"] == who and operation["reason"] == why and operation["at"]
    # An export made after it does not bring it back either.
    (world.root / "old.jsonl").write_text(exported)
    assert secret not in exported
    world.ask("import", str(world.root / "old.jsonl"))
    assert_absent_or_tagged(world, retired.about, gone)
    assert_absent(world, blanked.about, secret)
    assert world.ask("verify")["sound"]


def test_deletion_absent_after_reindex_and_restart_with_an_old_export(world: World) -> None:
    """An export from before brings a retired text back as nothing, and a restated one waits for a person."""
    gone, kept = words(2, "copies")
    world.put(PATH)
    retired = plant(world, "copy", TEXT, PATH, ISSUE, gone)
    sibling = plant(world, "copy", TEXT, PATH, ISSUE, kept)
    (world.root / "old.jsonl").write_text(world.cli("export", "--format", "jsonl").out)
    (world.root / "old.json").write_text(world.cli("export", "--format", "json").out)
    world.judge("retire", retired.about.id, "--why", "the parser was rewritten")
    for name in ("old.jsonl", "old.json"):
        report = world.ask("import", str(world.root / name))
        assert report["added"] == report["restored"] == 0, report
    again = world.mcp("record_project_memory", kind="decision", summary=f"{TEXT} by way of {gone}", issue=ISSUE)
    assert again.data["standing"] == "proposed" and "retired" in again.text
    tagged = assert_absent_or_tagged(world, About(TEXT, again.data["id"], PATH, ISSUE), gone)
    assert not [name for name in tagged if name.startswith(("hook", "cli brief", "cli stale", "cli export --format"))]
    for surface in SURFACES:
        if surface.shows == "plain":
            assert kept in surface.ask(world, sibling.about), surface.name
    assert json.loads(world.cli("status", "--json").out)["data"]["waiting"] == 1


def test_deletion_absent_from_shared_copies(world: World, other: World) -> None:
    """Of three that were shared one is retired and one redacted: at once, after a rebuild, by an old export."""
    *marks, gone, blanked, kept = words(7, "shared")
    controls = plant_controls(other, TEXT, PATH, ISSUE, marks)
    other.put("requirements.txt", "pydantic==2.7.1\n")
    other.put(USING, "from pydantic import BaseModel\n")
    ids = {}
    for mark in (gone, blanked, kept):
        ids[mark] = world.say("lesson", f"Pydantic unions validate twice, {mark}", "--library", "pydantic@>=2")
        world.judge("share", ids[mark])
    # A server of its own: the one that tests share reads the machine-wide log of another home.
    other.serve()
    asked = About("pydantic unions validate", ids[gone], PATH, ISSUE)
    doors = [s for s in SURFACES if s.name.startswith(("cli brief", "cli search", "mcp brief", "mcp search", "hook"))]
    # The newest two are told about a file that uses the library.
    of_file = [
        s for s in SURFACES if s.name.startswith(("cli why", "cli check", "mcp precheck", "projectmem precheck"))
    ]

    def told() -> str:
        return "".join(s.ask(other, asked) for s in doors) + other.cli("global", "list").out

    def told_of_file() -> list[str]:
        return [s.ask(other, asked._replace(path=USING)) for s in of_file if "folder" not in s.name]

    before = told()
    assert all(mark in before for mark in (gone, kept))
    assert all(kept in text and blanked in text for text in told_of_file())
    world.put("export.jsonl", world.cli("export", "--all", "--format", "jsonl").out)
    assert world.cli("retire", ids[gone], "--why", "validators were rewritten", env=SESSION).code == 0
    world.judge("redact", ids[blanked], "--why", "it quotes a customer")
    for step in ("at once", "rebuilt", "old export"):
        if step == "rebuilt":
            other.forget()
        if step == "old export":
            report = other.ask("import", str(world.root / "export.jsonl"))
            assert (report["dropped"], report["added"]) == (2, 1), report
        now = told()
        assert gone not in now and blanked not in now and kept in now, step
        assert all(kept in text and gone not in text and blanked not in text for text in told_of_file()), step
        # The commands over the machine-wide log say what became of it, with a tag; all else has lost it.
        elsewhere = [surface for surface in SURFACES if not surface.name.startswith("cli global")]
        for mark in (gone, blanked):
            assert_absent(other, asked, mark, elsewhere)
            for path in (USING, "requirements.txt"):
                of_path = [s for s in SURFACES if s.name.startswith(("hook", "cli why", "cli check", "mcp precheck"))]
                assert_absent(other, asked._replace(path=path), mark, of_path)
        assert_shown(other, controls)
    shown = other.cli("global", "show", ids[gone]).out
    assert "validators were rewritten" in shown and "claude-code" in shown
    assert blanked not in "".join(other.cli("global", "show", ids[blanked]).out)
    assert other.ask("global", "verify")["sound"]
