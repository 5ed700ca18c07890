"""Each client's golden configurations: what an installation makes of them, and that nothing of it is left."""

import json
import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from backstory.project.clients.commands import runs_ours
from backstory.project.clients.contract import Level
from backstory.project.clients.known import CLIENTS
from backstory.project.installing.answers import SAME
from backstory.project.installing.applying import apply
from backstory.project.installing.planning import plan
from backstory.project.installing.undoing import apply_removal, plan_removal

from .conftest import DATA, Tree, golden, lay, selection, tree

CASES = [(client.name, scope.name) for client in sorted(DATA.iterdir()) for scope in sorted(client.iterdir())]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the golden trees have the paths of Linux")


@pytest.fixture
def place(tmp_path: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch, state: Path):  # type: ignore[no-untyped-def]
    """Lays a golden tree in a folder: the project, or the home folder of the person."""
    monkeypatch.setattr("backstory.project.clients.places.system", lambda: "linux")

    def laid(client: str, scope: str) -> Path:
        folder = tmp_path / "project" if scope == "project" else isolated
        folder.mkdir(exist_ok=True)
        lay(folder, golden(client, scope, "before"))
        return folder

    return laid


def install(client: str, scope: Level, folder: Path) -> Any:
    return apply(plan(selection(client, scope, folder if scope == "project" else Path(""))))


def uninstall(client: str, scope: Level, folder: Path) -> Any:
    return apply_removal(plan_removal(selection(client, scope, folder if scope == "project" else Path(""))))


def without_modes(files: Tree) -> Tree:
    return {name: data for name, data in files.items() if not name.endswith(" (mode)")}


def said(name: str, data: bytes) -> Any:
    """What a file says to its client, comments and layout aside."""
    text = data.decode("utf-8-sig")
    if name.endswith(".toml"):
        return tomllib.loads(text)
    if name.endswith((".json", ".jsonc")):
        bare = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*[\s\S]*?\*/', lambda found: found.group(1) or "", text)
        return json.loads(re.sub(r",(\s*[}\]])", r"\1", bare) or "null")
    return text.strip()


def test_every_client_has_a_golden_tree_for_each_level_that_it_has_files_at() -> None:
    levels = {(client.name, file.level) for client in CLIENTS.values() for file in client.files}
    assert set(CASES) == levels


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_an_installation_makes_the_golden_files_and_a_second_one_changes_nothing(client, scope, place) -> None:  # type: ignore[no-untyped-def]
    folder = place(client, scope)
    answer = install(client, scope, folder)
    assert answer.changes and not answer.refused
    assert without_modes(tree(folder)) == golden(client, scope, "after")
    stamps = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    again = install(client, scope, folder)
    assert again.changes == 0 and {file.state for file in again.files} == {SAME}
    assert stamps == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_uninstalling_leaves_every_file_and_folder_byte_for_byte_as_before(client, scope, place, state) -> None:  # type: ignore[no-untyped-def]
    folder = place(client, scope)
    before = tree(folder)
    install(client, scope, folder)
    assert tree(folder) != before and list(state.rglob("record.json"))
    assert uninstall(client, scope, folder).changes
    assert tree(folder) == before
    assert not state.exists()
    # An older block of ours that stood there before is ours all the same, and goes when asked again.
    assert uninstall(client, scope, folder).changes == ((client, scope) == ("antigravity", "project"))


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_without_a_record_our_entries_are_found_by_their_marks(client, scope, place, state) -> None:  # type: ignore[no-untyped-def]
    folder = place(client, scope)
    before = tree(folder)
    install(client, scope, folder)
    shutil.rmtree(state)
    assert uninstall(client, scope, folder).changes
    after = tree(folder)
    for name, data in before.items():
        # What is left of a file that said nothing cannot be told from one that we made: it goes.
        if pruned(said(name, data)) in (None, "", {}):
            assert name not in after
        elif (client, name) != ("antigravity", "AGENTS.md"):
            assert said(name, after[name]) in (said(name, data), pruned(said(name, data)))
    assert not [name for name, data in after.items() if b"backstory" in data and b"backstory" not in before[name]]


def pruned(data: Any) -> Any:
    """Without the empty objects and lists in which our entries stood."""
    if not isinstance(data, dict):
        return data
    inner = {name: pruned(value) for name, value in data.items()}
    kept = {name: value for name, value in inner.items() if name not in ("mcpServers", "servers") or value}
    if isinstance(kept.get("hooks"), dict):
        kept["hooks"] = {name: value for name, value in kept["hooks"].items() if value}
    return kept


@pytest.mark.parametrize(("client", "scope"), CASES)
def test_a_file_that_changed_since_loses_our_entries_only(client, scope, place) -> None:  # type: ignore[no-untyped-def]
    folder = place(client, scope)
    before = tree(folder)
    install(client, scope, folder)
    for name, data in golden(client, scope, "after").items():
        if name.endswith((".json", ".jsonc")):
            # A foreign member at the top, as the client or a person may add it.
            place_of = data.index(b"{") + 1
            (folder / name).write_bytes(data[:place_of] + b'"added": [1, "backstory"],' + data[place_of:])
        elif name.endswith((".toml", ".md")):
            (folder / name).write_bytes(data + (b"# added\n" if name.endswith("toml") else b"Added.\n"))
    uninstall(client, scope, folder)
    for name, data in tree(folder).items():
        if name.endswith((".json", ".jsonc")):
            expected = {"added": [1, "backstory"], **(said(name, before[name]) or {} if name in before else {})}
            assert said(name, data) == expected, name
        elif name.endswith(".toml"):
            assert data.endswith(b"# added\n") and (name not in before or data.startswith(before[name].rstrip()))
        elif name.endswith(".md"):
            assert data.endswith(b"Added.\n") and b"## Project memory" not in data


@pytest.mark.parametrize("client", CLIENTS)
def test_every_hook_has_the_constant_command_of_its_event_and_at_most_five_seconds(client: str) -> None:
    for scope in ("project", "user"):
        for name, data in golden(client, scope, "after").items():
            if name.endswith((".json", ".jsonc")) and b"hooks" in data:
                for event, handler in handlers(said(name, data).get("hooks", {})):
                    assert handler["command"].split()[-1] == event
                    limit = handler.get("timeout", 5)
                    assert limit <= (5000 if client == "gemini" else 5)


def handlers(hooks: dict[str, list[dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Our handlers with their event, of grouped and of flat lists."""
    found = []
    for event, items in hooks.items():
        for item in items:
            found += [(event, one) for one in item.get("hooks", [item]) if runs_ours(one)]
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_a_committed_file_names_no_path_of_this_machine(client: str) -> None:
    personal = {file.linux for file in CLIENTS[client].files if file.personal}
    before = golden(client, "project", "before")
    for name, data in golden(client, "project", "after").items():
        added = data if name not in before else data.replace(before[name], b"")
        assert (b"/opt/tools" in added) == (name in personal), name
