"""The commands of the plan and of the map."""

from pathlib import Path

from .conftest import Cli


def test_nothing_of_a_plan_is_an_entry(cli: Cli) -> None:
    cli("plan", "add", "Read in chunks with zebras")
    assert cli.json("timeline") == [] and cli.json("search", "zebras")["hits"] == []
    assert "zebras" not in cli("brief").stdout
    cli.record("note", "Zebras are real")
    assert len(cli.json("search", "zebras")["hits"]) == 1


def test_the_command_shows_changes_and_removes_the_plan(cli: Cli) -> None:
    assert "There is no plan" in cli("plan").stderr
    cli("plan", "add", "Read in chunks")
    cli("plan", "new", "Measure")
    assert cli("plan", "tick", "2").stdout.splitlines() == ["  1. [ ] Read in chunks", "  2. [x] Measure"]
    assert cli("plan").stdout == "- [ ] Read in chunks\n- [x] Measure\n"
    assert [item["done"] for item in cli.json("plan", "show")["items"]] == [False, True]
    cli("plan", "set", "-", stdin="# Plan\n\n- [ ] All anew\n")
    assert cli("plan", "view").stdout == "# Plan\n\n- [ ] All anew\n"
    assert "All anew" in cli("plan", "clear").stdout
    assert cli.json("plan")["text"] == ""


def test_a_verb_that_there_is_not_names_those_that_there_are(cli: Cli) -> None:
    for args in (["plan", "Read in chunks"], ["plan", "add"], ["plan", "show", "x"], ["plan", "done"]):
        refused = cli(*args, code=2)
        assert "backstory plan" in refused.stderr or "plan" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert "add" in cli("plan", "Read in chunks", code=2).stderr


def test_the_map_says_what_the_project_is_made_of(cli: Cli) -> None:
    Path(cli.folder, "Makefile").write_text("test:\n\tpytest\n", encoding="utf-8")
    shown = cli("map").stdout
    assert "Python" in shown and "make test" in shown and "src/" in shown
    data = cli.json("map")
    assert data["commands"] == [{"purpose": "test", "command": "make test", "source": "Makefile", "folder": ""}]
    assert data["languages"][0]["name"] == "Python" and data["head"]
