"""What is said of the clients: whole, in sentences, and the same in the documentation."""

from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project.clients import described, known, places
from backstory.project.clients.contract import HOOKS, Client
from backstory.project.clients.known import CLIENTS
from backstory.surfaces.hooks import entry
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_each_client_says_what_it_cannot_do_in_full_sentences(client: Client) -> None:
    assert client.cannot and all(text[0].isupper() and text.endswith(".") for text in client.cannot)
    assert any(file.role != HOOKS for file in client.files)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_a_client_says_something_only_at_events_that_it_reports(client: Client) -> None:
    events = {hook.event for hook in client.events}
    assert set(client.injects) <= events
    assert bool(events) == any(file.role == HOOKS for file in client.files)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_every_event_that_is_installed_is_one_that_the_hook_program_answers(client: Client) -> None:
    spoken = "copilot" if client.name == "vscode" else client.name
    assert {hook.event for hook in client.events} == set(entry.events_of(spoken))


@pytest.mark.parametrize("system", ["linux", "mac", "windows"])
def test_every_file_has_a_place_on_every_system(system: str, monkeypatch: pytest.MonkeyPatch, isolated: Path) -> None:
    monkeypatch.setattr(places, "system", lambda: system)
    for client in CLIENTS.values():
        for file in client.files:
            path = places.path_of(client, file, "/shop")
            assert path.startswith("/shop/" if file.level == "project" else str(isolated)), path
            assert "%" not in path and "~" not in path


def test_macos_and_windows_have_places_of_their_own_where_the_client_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def desktop(system: str) -> str:
        monkeypatch.setattr(places, "system", lambda: system)
        client = CLIENTS["claude-desktop"]
        return places.path_of(client, client.files[0], "").partition("/home")[2].partition("/")[2]

    assert desktop("linux") == ".config/Claude/claude_desktop_config.json"
    assert desktop("mac") == "Library/Application Support/Claude/claude_desktop_config.json"
    assert desktop("windows") == "AppData/Roaming/Claude/claude_desktop_config.json"


def test_a_client_is_known_by_its_other_names_and_any_spelling_of_case() -> None:
    assert known.named("Claude_Code") is known.named("claude") is CLIENTS["claude-code"]
    assert known.named("copilot") is CLIENTS["vscode"]
    with pytest.raises(BackstoryError, match="'emacs' is no client"):
        known.named("emacs")


def test_the_documentation_has_the_tables_as_they_are_made() -> None:
    for lines in (described.table(), described.limits(), described.other_places()):
        assert "\n".join(lines) in PAGE
