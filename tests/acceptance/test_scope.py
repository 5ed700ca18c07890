"""Each project's memory is its own: no surface, argument or background work mixes two of them."""

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.config import load
from backstory.surfaces.cli.registry import COMMANDS
from tests.acceptance.surfaces import SURFACES, About, Planted, assert_absent, assert_shown, plant_controls
from tests.acceptance.world import Shared, World, start, words

TEXT = "Cache the parser output"
PATH, ISSUE = "src/auth.ts", "#717"
# Surfaces that show what nobody named by a path or an issue.
EVERYWHERE = ("cli search", "cli timeline", "cli export", "mcp", "hook", "cli brief")


@pytest.fixture
def two(world: World, other: World) -> tuple[dict[str, Planted], dict[str, Planted]]:
    """Two projects with the same words about the same file and issue, told apart by made-up words alone."""
    marks = words(8, "two projects")
    return (
        plant_controls(world, TEXT, PATH, ISSUE, marks[:4]),
        plant_controls(other, TEXT, PATH, ISSUE, marks[4:]),
    )


def test_scope_cross_project_absent(
    world: World, other: World, two: tuple[dict[str, Planted], dict[str, Planted]]
) -> None:
    """What fits best lies in the one project; the other one is asked, with the very words, id, path and issue."""
    here, there = two
    best = words(1, "best match")[0]
    id_ = world.say("decide", f"{TEXT} {best}", "-f", PATH, "--issue", ISSUE)
    about = here["plain"].about._replace(words=f"{TEXT} {best}", id=id_)
    for surface in SURFACES:
        shown = surface.ask(other, about)
        # The words of the question may be repeated by the answer; nothing else of the entry is there.
        assert id_[-6:] not in shown.replace(f"'{id_}'", ""), f"{surface.name}:\n{shown}"
        assert f"{TEXT} {best}" not in _without_question(shown), f"{surface.name}:\n{shown}"
        for planted in here.values():
            assert planted.mark not in shown, f"{surface.name}:\n{shown}"
    assert_shown(other, there)
    assert best in world.cli("search", *about.words.split()).out
    assert best in world.mcp("search_project_memory", query=about.words).text
    assert_shown(world, here)


def _without_question(text: str) -> str:
    try:
        answer = json.loads(text)
    except ValueError:
        # A prompt begins with what the person says is wrong.
        return re.sub(r"^Something is wrong: .*", "", text, flags=re.MULTILINE)
    if isinstance(answer.get("data"), dict):
        answer["data"].pop("query", None)
    return json.dumps(answer)


def test_scope_cross_project_absent_from_the_answers_to_writes(
    world: World, other: World, two: tuple[dict[str, Planted], dict[str, Planted]]
) -> None:
    """A write tells what it clashes with and what it repeats: of its own project alone."""
    here, there = two
    twin = f"{TEXT} by way of {here['plain'].mark}"
    reply = other.mcp("record_project_memory", kind="decision", summary=twin, file_refs=[PATH])
    assert reply.data["status"] == "recorded"
    assert here["plain"].about.id not in json.dumps(reply.data)
    assert here["plain"].about.id[-6:] not in reply.text
    clash = other.cli("decide", "Forbid retries in the client", "-f", PATH, "--json").data
    assert [item["id"] for item in clash["clashes"]]
    assert not {item["id"] for item in clash["clashes"]} - other.entries().keys()
    again = world.mcp("record_project_memory", kind="decision", summary=twin, file_refs=[PATH])
    assert again.data["status"] == "corroborated"
    assert there["plain"].mark not in again.text


def _ways_out(world: World, other: World) -> Iterator[str]:
    """Values that name the other project, or everything, in all the ways that a caller may try."""
    link = world.root / "link"
    link.symlink_to(other.root)
    inner = world.root / "src" / "inner"
    inner.symlink_to(other.root / "src")
    above = world.root.parent
    yield from (str(other.root), f"{other.root}/", str(other.root / PATH), f"../{other.root.name}")
    yield from (f"../{other.root.name}/{PATH}", f"src/../../{other.root.name}/{PATH}", str(above), "..", "../..", "/")
    yield from ("link", f"link/{PATH}", f"{link}/src", "src/inner/auth.ts", f"{world.root}/../{other.root.name}")
    yield from (f"{above}/*", "../*", "**", "*", "%", f"{above}/b?ta", f"../[b]eta/{PATH}", "~", "$HOME", "all", "any")
    yield from (f"{world.root}:{other.root}", f"{world.root},{other.root}", f"{PATH}\n../{other.root.name}", "a\0b")
    yield from ("file://" + str(other.root), str(other.root).upper(), os.fspath(other.root / ".git"), "", " ", ".")


def test_scope_caller_cannot_widen(
    world: World, other: World, two: tuple[dict[str, Planted], dict[str, Planted]]
) -> None:
    """A server for one project is asked for the other: each call is refused or stays at home, and the next works."""
    here, there = two
    world.serve()
    foreign = [planted.mark for planted in there.values()]
    before = other.own_bytes()
    for value in _ways_out(world, other):
        for tool, given in (
            ("get_project_memory", {"project_path": value}),
            ("get_project_memory", {"kind": value}),
            ("search_project_memory", {"query": TEXT, "project_path": value}),
            ("search_project_memory", {"query": TEXT, "path": value}),
            ("search_project_memory", {"query": TEXT, "standing": value}),
            ("search_project_memory", {"query": f"{TEXT} project:{value}"}),
            ("record_project_memory", {"kind": "note", "summary": "Goes home", "project_path": value}),
            ("record_project_memory", {"kind": "note", "summary": "Goes home", "file_refs": [value]}),
            ("revise_project_memory", {"action": "confirm", "id": there["plain"].about.id, "project_path": value}),
            ("revise_project_memory", {"action": "confirm", "id": value}),
        ):
            reply = world.mcp(tool, **given)
            said = reply.text + json.dumps(reply.data)
            assert not [mark for mark in foreign if mark in said], (tool, given, said)
        proper = world.mcp("search_project_memory", query=TEXT)
        assert here["plain"].mark in proper.text, value
    assert world.mcp("search_project_memory", query=TEXT, project_path=str(other.root)).failed
    _assert_commands_stay(world, two)
    # Not a byte was written over there; reading leaves no trace in a project that is not read.
    assert other.own_bytes() == before


def _assert_commands_stay(world: World, two: tuple[dict[str, Planted], dict[str, Planted]]) -> None:
    here, there = two
    other_root = world.root.parent / "beta"
    ids = [there["plain"].about.id, there["plain"].about.id[-6:], "*", "%", ""]
    options = {
        "why": [[value] for value in _paths(world, other_root)],
        "search": [[TEXT, "--path", value] for value in _paths(world, other_root)],
        "brief": [["--for", value] for value in _paths(world, other_root)],
        "show": [[value] for value in ids],
        "case": [[value] for value in ids],
    }
    assert options.keys() <= {name for name, command in COMMANDS.items() if command.reads}
    for name, given in options.items():
        for args in given:
            said = world.cli(name, *args)
            assert not [p.mark for p in there.values() if p.mark in said.out + said.err], (name, args, said)
            assert "Traceback" not in said.err
    assert_shown(world, here, [surface for surface in SURFACES if surface.name.startswith("cli")])


def _paths(world: World, other: Path) -> list[str]:
    return [
        str(other), str(other / PATH), f"../{other.name}/{PATH}", f"link/{PATH}", "link", "src/inner", "..", "/", "*",
        "**", "", f"{world.root}/../{other.name}",
    ]  # fmt: skip


def test_scope_caller_cannot_widen_without_a_project(world: World, other: World) -> None:
    """A server that is bound to none reads one project for each call, never all, and keeps none in mind."""
    mark, foreign = words(2, "unbound")
    world.say("note", f"Kept at home {mark}")
    other.say("note", f"Kept over there {foreign}")
    server = Shared.get()
    assert foreign in server.call("get_project_memory", project_path=str(other.root)).text
    for value in ("", "*", "..", f"{world.root.parent}/*", str(world.root.parent), "/", os.environ["HOME"], "all"):
        reply = server.call("get_project_memory", project_path=value)
        assert reply.failed and mark not in reply.text and foreign not in reply.text, (value, reply)
    assert server.call("get_project_memory").failed
    found = server.call("get_project_memory", project_path=str(world.root))
    assert mark in found.text and foreign not in found.text


def test_scope_caller_cannot_widen_by_a_hook(world: World, other: World) -> None:
    """What a host sends may be odd; a hook answers for the folder in it, or not at all."""
    mark, foreign = words(2, "hook scope")
    world.say("decide", f"Kept at home {mark}")
    other.say("decide", f"Kept over there {foreign}")
    above = world.root.parent
    for value in (str(above), f"{above}/*", "/", os.environ["HOME"], f"{world.root},{other.root}", "\0", "*", ".."):
        said = world.hook(cwd=value)
        assert said.code == 0 and mark not in said.out and foreign not in said.out, (value, said)
    for fields in ({"project": str(other.root)}, {"source": str(other.root)}, {"session_id": foreign}):
        said = world.hook(**fields)
        assert mark in said.out and foreign not in said.out, fields


@pytest.mark.parametrize("plain", [False, True], ids=["git", "plain folder"])
def test_scope_background_respects_boundary(tmp_path: Path, plain: bool) -> None:
    """After every kind of work in two projects, no derived file, journal, head or cache holds text of both."""
    marks = words(8, "background")
    worlds = [start(tmp_path / name, plain=plain) for name in ("alpha", "beta")]
    planted = [plant_controls(w, TEXT, PATH, ISSUE, marks[4 * i : 4 * i + 4]) for i, w in enumerate(worlds)]
    for world, controls in zip(worlds, planted, strict=True):
        assert_shown(world, controls)
        for command in (["doctor"], ["gc"], ["verify"], ["status"], ["export"], ["publish"]):
            world.cli(*command)
    folders = {*(w.root for w in worlds), Path(os.environ["HOME"])}
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    mine, theirs = ([mark.encode() for mark in half] for half in (marks[:4], marks[4:]))
    kept = [path.read_bytes() for path in files]
    mixed = [
        str(path)
        for path, data in zip(files, kept, strict=True)
        if any(mark in data for mark in mine) and any(mark in data for mark in theirs)
    ]
    assert mixed == []
    for world, own in zip(worlds, (mine, theirs), strict=True):
        index = Path(load(str(world.root)).places.index_path).read_bytes()
        assert all(mark in index for mark in own)
    first = planted[0]["plain"]
    assert_absent(worlds[1], first.about, first.mark)


def test_scope_background_respects_boundary_when_a_lesson_is_shared(world: World, other: World) -> None:
    """What is shared reaches the index of a project that uses the library: no more of it, and no file of its tree."""
    shared, private, own = words(3, "shared lesson")
    other.put("requirements.txt", "pydantic==2.7.1\n")
    lesson = world.say("lesson", f"Pydantic unions validate twice, {shared}", "--library", "pydantic@>=2")
    world.say("lesson", f"Pydantic models are slow, {private}", "--library", "pydantic@>=2")
    world.judge("share", lesson)
    other.serve()
    other.say("decide", f"{TEXT} {own}", "-f", other.put(PATH))
    assert shared in other.cli("brief").out and own in other.cli("brief").out
    for command in (["gc"], ["export", "--into", "AGENTS.md"], ["export", "--format", "pages", "--out", "memory"]):
        with contextlib.chdir(other.root):
            assert other.cli(*command).code == 0
    derived = Path(load(str(other.root)).places.derived_dir)
    assert any(shared.encode() in path.read_bytes() for path in derived.rglob("*") if path.is_file())
    tree = {
        path.relative_to(other.root): path.read_bytes()
        for path in other.root.rglob("*")
        if path.is_file() and path.relative_to(other.root).parts[0] != ".git"
    }
    assert own.encode() in tree[Path("AGENTS.md")] and own.encode() in tree[Path("memory/kinds/decision.md")]
    assert not [path for path, data in tree.items() if shared.encode() in data]
    everything = b"".join(path.read_bytes() for path in other.root.rglob("*") if path.is_file())
    assert private.encode() not in everything
    asked = About("pydantic", lesson, PATH, ISSUE)
    assert_absent(other, asked, private)
    assert private in world.cli("search", "pydantic").out


def test_scope_background_respects_boundary_of_an_inner_repository(world: World) -> None:
    """A repository inside another one is a project of its own, in both directions."""
    mark, foreign = words(2, "inner repository")
    with start(world.root / "vendor" / "inner") as inner:
        world.say("decide", f"{TEXT} {mark}", "-f", world.put(PATH))
        inner.say("decide", f"{TEXT} {foreign}", "-f", inner.put(PATH))
        for asked, own, strange in ((world, mark, foreign), (inner, foreign, mark)):
            for surface in SURFACES:
                if surface.shows and surface.name.startswith(EVERYWHERE) and "case" not in surface.name:
                    about = About(TEXT, next(iter(asked.entries())), PATH, ISSUE)
                    shown = surface.ask(asked, about)
                    assert own in shown and strange not in shown, (surface.name, shown)
