"""No surface is left out, and each shows what it is there to show: without that no test of absence says anything."""

import json

import pytest

from tests.acceptance import surfaces
from tests.acceptance.surfaces import SURFACES, assert_absent_or_tagged, assert_shown, plant_controls, untagged
from tests.acceptance.world import World, words


def test_every_surface_of_the_registries_has_an_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert surfaces.without_adapter() == []
    assert len(SURFACES) >= 30
    monkeypatch.delitem(surfaces._COMMANDS, "why")
    monkeypatch.delitem(surfaces._TOOLS, "get_project_memory")
    assert surfaces.without_adapter() == [
        "no adapter for surface get_project_memory",
        "no adapter for surface why",
    ]


def test_every_surface_answers_and_shows_what_it_is_for(world: World) -> None:
    controls = plant_controls(world, "Cache the parser output", "src/parse.py", "#717", words(4, "shown"))
    assert_shown(world, controls)
    for surface in SURFACES:
        text = surface.ask(world, controls["plain"].about)
        if "--json" in surface.name or surface.name.endswith((" json", " data")):
            assert isinstance(json.loads(text), dict), surface.name


def test_the_eye_for_tags_sees_what_has_none() -> None:
    """The measure itself: it must not take an untagged text for a tagged one."""
    assert untagged("ABCDEF  2026-01-01  decision    use it", "it")
    assert not untagged("ABCDEF  2026-01-01  decision    use it [retired]", "it")
    assert untagged('{"data": [{"standing": "active", "summary": "use it"}]}', "it")
    assert not untagged('{"data": [{"standing": "retired", "summary": "use it"}]}', "it")
    assert untagged(
        '{"data": [{"standing": "retired", "summary": "x", "holds": [{"standing": "active", "s": "it"}]}]}', "it"
    )
    assert untagged('{"id": "1", "kind": "note", "summary": "it"}\n{"id": "2", "kind": "note", "summary": "y"}', "it")
    assert not untagged(
        '{"id": "1", "kind": "note", "summary": "it"}\n{"id": "2", "kind": "retire", "target": "1"}', "it"
    )


def test_what_waits_is_tagged_on_every_surface(world: World) -> None:
    controls = plant_controls(world, "Cache the parser output", "src/parse.py", "#717", words(4, "waits"))
    waiting = controls["waiting"]
    seen = assert_absent_or_tagged(world, waiting.about, waiting.mark)
    assert {"cli review", "cli timeline", "cli show"} <= set(seen)
