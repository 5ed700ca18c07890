"""Sessions on a screen: what agents did, from where an entry comes, and what capture proposes."""

import os
from pathlib import Path

from tests.project.sessions.transcripts import Claude, red_edit_green

from .conftest import Cli


def test_a_session_is_listed_shown_searched_and_handed_over(cli: Cli) -> None:
    session = red_edit_green(Claude(cli.folder))
    listed = cli("sessions", "list").stdout
    assert session.session[:8] in listed
    assert "The test of the store fails. Fix it. (1 turn, 1 edit, 1 failed)" in listed
    shown = cli("sessions", "show", session.session).stdout
    for words in ("edited:\n  src/store.py (1 edit)", "failed:\n  pytest -q tests/test_store.py: E AssertionError"):
        assert words in shown
    assert str(session.path) in shown
    text = cli("sessions", "show", session.session, "--turn", "1").stdout
    assert text.startswith("person:\n  The test of the store fails. Fix it.\n")
    assert "command:\n  pytest -q tests/test_store.py" in text
    found = cli("sessions", "search", "store", "fails")
    assert f"{session.session[:8]} turn 1" in found.stdout
    assert "sessions show" in found.stderr
    resumed = cli("sessions", "resume").stdout
    assert resumed.startswith("<project-memory ")
    assert "edited: src/store.py" in resumed


def test_without_a_session_each_command_says_so_and_what_to_do(cli: Cli) -> None:
    assert "no such session" in cli("sessions", "list").stderr
    assert "Nothing like that" in cli("sessions", "search", "store").stderr
    assert "no session of this project" in cli("sessions", "resume").stderr
    missing = cli("sessions", "show", "nowhere", code=2)
    assert "`backstory sessions list`" in missing.stderr
    Claude(cli.folder, "session-of-mine").user("hello there")
    nothing = cli("sessions", "show", "session-of-mine", "--turn", "7", code=2)
    assert "has no turn 7" in nothing.stderr


def test_what_is_turned_off_is_said_by_every_command_that_would_read(cli: Cli) -> None:
    red_edit_green(Claude(cli.folder))
    cli("sessions", "list")
    cli("sessions", "off")
    for words in (["sessions", "list"], ["sessions", "show", "x"], ["capture"], ["backfill"]):
        refused = cli(*words, code=4)
        assert "backstory sessions on" in refused.stderr
    assert "turned off" in cli("status").stdout
    cli("sessions", "on")
    assert "pytest" in cli("capture").stdout


def test_init_says_what_is_read_and_how_to_end_it_and_can_be_told_not_to(cli: Cli, tmp_path: Path) -> None:
    for name, option, words in (("one", [], "sessions off"), ("two", ["--no-sessions"], "sessions on")):
        folder = tmp_path / name
        folder.mkdir()
        said = cli("init", str(folder), *option).stdout
        assert f"`backstory {words}`" in said
    assert cli("sessions", "list", "--project", str(tmp_path / "two"), code=4).stderr
    assert cli("sessions", "list", "--project", str(tmp_path / "one")).exit_code == 0


def test_capture_shows_what_it_found_and_review_where_it_comes_from(cli: Cli) -> None:
    session = red_edit_green(Claude(cli.folder))
    planned = cli("capture", "--dry-run")
    assert "1 session looked at: 1 would be recorded (1 active)." in planned.stdout
    done = cli("capture")
    assert "1 recorded (1 active)" in done.stdout
    assert f"[red-edit-green, session {session.session[:8]}]" in done.stdout
    id_ = cli.json("timeline")[0]["id"]
    shown = cli("show", id_).stdout
    assert f"comes from session {session.session[:8]}, turn 1" in shown
    assert "capture red-edit-green" not in shown
    session.path.unlink()
    gone = cli("show", id_).stdout
    assert "[transcript gone]" in gone
    assert "pytest" in gone


def test_a_line_is_asked_with_a_colon_and_a_file_that_nothing_cites_still_has_a_past(cli: Cli) -> None:
    import subprocess

    source = cli.folder / "src" / "store.py"
    source.write_text(source.read_text(encoding="utf-8").replace("open", "io.open"), encoding="utf-8")
    subprocess.run(["git", "commit", "-qam", "Add the store"], cwd=cli.folder, check=True)
    session = Claude(cli.folder).user("change the store").edits("src/store.py", "a", "b")
    cli("sessions", "list")
    said = cli("why", "src/store.py").stdout
    assert "Nothing is known about it" in said
    assert "Commits behind it:" in said and "Add the store" in said
    assert f"{session.session[:8]}" in said
    assert "Commits behind line 2:" in cli("why", "src/store.py:2").stdout


def test_a_terminal_that_is_narrow_gets_whole_words(cli: Cli) -> None:
    Claude(cli.folder).user("a request of many words " * 20).says("an answer of many words " * 40)
    with cli.monkeypatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        cli("sessions", "list")
        shown = cli("sessions", "show", cli.json("sessions", "list")["sessions"][0]["id"]).stdout
    assert "\u2026" in shown
    assert os.environ.get("COLUMNS") != "60"
