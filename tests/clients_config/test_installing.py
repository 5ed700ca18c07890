"""Installing into a real folder: what is shared, borrowed, linked, broken, or changes under our hands."""

import json
import os
import stat
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project.clients.known import CLIENTS
from backstory.project.installing import files, ledger
from backstory.project.installing.answers import CHANGE, CREATE, REFUSED, REMOVE, RESTORE, SAME, Installation
from backstory.project.installing.applying import apply
from backstory.project.installing.diffs import diff
from backstory.project.installing.planning import plan
from backstory.project.installing.targets import detected
from backstory.project.installing.undoing import apply_removal, plan_removal
from backstory.project.merging.marked_block import BEGIN

from .conftest import selection, tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes of Unix")


@pytest.fixture(autouse=True)
def _linux(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    monkeypatch.setattr("backstory.project.clients.places.system", lambda: "linux")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shop (x)"
    made.mkdir()
    return made


def install(names: str | list[str], folder: Path, scope: str = "project", **options: object) -> Installation:
    return apply(plan(selection(names, scope, folder, **options)))  # type: ignore[arg-type]


def uninstall(names: str | list[str], folder: Path, scope: str = "project") -> Installation:
    return apply_removal(plan_removal(selection(names, scope, folder)))  # type: ignore[arg-type]


def states(answer: Installation) -> dict[str, str]:
    return {file.path: file.state for file in answer.files}


def test_a_plan_writes_nothing(folder: Path) -> None:
    planned = plan(selection("codex", "project", folder)).answer()
    assert states(planned) == {".codex/config.toml": CREATE, ".codex/hooks.json": CREATE, "AGENTS.md": CREATE}
    assert "+[mcp_servers.backstory]" in planned.files[0].diff and not planned.applied
    assert tree(folder) == {}


def test_a_broken_file_is_left_alone_with_its_line_and_the_others_are_written(folder: Path) -> None:
    broken = b'{\n  "hooks": {,}\n}\n'
    (folder / ".codex").mkdir()
    (folder / ".codex" / "hooks.json").write_bytes(broken)
    answer = install("codex", folder)
    refused = answer.files[1]
    assert (refused.state, answer.refused, answer.changes) == (REFUSED, 1, 2)
    assert refused.note.startswith(".codex/hooks.json: line 2 has ")
    assert (folder / ".codex" / "hooks.json").read_bytes() == broken and (folder / ".codex" / "config.toml").exists()
    uninstall("codex", folder)
    assert tree(folder) == {".codex/hooks.json": broken}


def test_a_linked_file_is_written_where_it_leads_and_keeps_link_and_mode(folder: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "codex.toml"
    real.parent.mkdir()
    real.write_text('model = "x"\n', encoding="utf-8")
    real.chmod(0o640)
    (folder / ".codex").mkdir()
    link = folder / ".codex" / "config.toml"
    link.symlink_to(os.path.relpath(real, link.parent))
    install("codex", folder, roles=("mcp",))
    assert link.is_symlink() and "backstory" in real.read_text(encoding="utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    uninstall("codex", folder)
    assert link.is_symlink() and real.read_text(encoding="utf-8") == 'model = "x"\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o640 and os.listdir(real.parent) == ["codex.toml"]


def test_a_link_to_nothing_gets_its_file_and_stays_a_link_afterwards(folder: Path, tmp_path: Path) -> None:
    link = folder / "AGENTS.md"
    link.symlink_to(tmp_path / "later" / "AGENTS.md")
    install("zed", folder)
    assert BEGIN in (tmp_path / "later" / "AGENTS.md").read_text(encoding="utf-8")
    uninstall("zed", folder)
    assert link.is_symlink() and not (tmp_path / "later").exists()


def test_claude_md_that_is_a_link_to_agents_md_is_written_once(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("# Shop\n", encoding="utf-8")
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    answer = install(["claude-code", "codex"], folder, roles=("instructions",))
    assert [file.clients for file in answer.files] == [("claude-code", "codex")]
    assert (folder / "AGENTS.md").read_text(encoding="utf-8").count(BEGIN) == 1


@pytest.mark.parametrize("line", ["@AGENTS.md", "@./AGENTS.md"])
def test_claude_md_that_imports_agents_md_is_not_written_to(folder: Path, line: str) -> None:
    before = f"{line}\n\n- Tabs.\n"
    (folder / "CLAUDE.md").write_text(before, encoding="utf-8")
    answer = install("claude-code", folder, roles=("instructions",))
    assert states(answer) == {"AGENTS.md": CREATE} and "imports AGENTS.md" in " ".join(answer.clients[0].notes)
    uninstall("claude-code", folder)
    assert tree(folder) == {"CLAUDE.md": before.encode()}
    (folder / "CLAUDE.md").write_text("We do not import @AGENTS.md here.\n", encoding="utf-8")
    assert states(install("claude-code", folder, roles=("instructions",))) == {"CLAUDE.md": CHANGE}


def test_claude_code_is_given_agents_md_where_there_is_no_claude_md_which_would_hide_it(folder: Path) -> None:
    only = ("instructions",)
    assert states(install("claude-code", folder, roles=only)) == {"CLAUDE.md": CREATE}
    uninstall("claude-code", folder)
    assert states(install(["claude-code", "codex"], folder, roles=only)) == {"AGENTS.md": CREATE}
    uninstall(["claude-code", "codex"], folder)
    (folder / "AGENTS.md").write_text("# Shop\n", encoding="utf-8")
    answer = install("claude-code", folder, roles=only)
    assert states(answer) == {"AGENTS.md": CHANGE} and "no CLAUDE.md" in " ".join(answer.clients[0].notes)
    uninstall("claude-code", folder)
    assert tree(folder) == {"AGENTS.md": b"# Shop\n"}
    (folder / "CLAUDE.md").write_text("# Shop\n", encoding="utf-8")
    assert states(install("claude-code", folder, roles=only)) == {"CLAUDE.md": CHANGE}


def test_our_plugin_for_claude_code_takes_the_place_of_hooks_and_server(folder: Path, isolated: Path) -> None:
    settings = isolated / ".claude" / "settings.json"
    settings.parent.mkdir()
    for on, wanted in ((True, {"CLAUDE.md"}), (False, {".mcp.json", ".claude/settings.local.json", "CLAUDE.md"})):
        settings.write_text(json.dumps({"enabledPlugins": {"backstory@backstory": on, "x@y": True}}), encoding="utf-8")
        answer = plan(selection("claude-code", "project", folder)).answer()
        assert set(states(answer)) == wanted and ("plugin is enabled" in " ".join(answer.clients[0].notes)) == on


def test_a_file_of_several_clients_stays_until_the_last_of_them_goes(folder: Path) -> None:
    install("codex", folder, roles=("instructions",))
    answer = install("cursor", folder, roles=("instructions",))
    assert states(answer) == {"AGENTS.md": SAME}
    assert states(uninstall("codex", folder)) == {"AGENTS.md": SAME}
    assert BEGIN in (folder / "AGENTS.md").read_text(encoding="utf-8")
    assert states(uninstall("cursor", folder)) == {"AGENTS.md": REMOVE}
    assert tree(folder) == {}


def test_an_installation_over_an_edited_one_keeps_the_edit_when_it_goes(folder: Path) -> None:
    path = folder / ".mcp.json"
    path.write_text('{"mcpServers": {"a": {}}}', encoding="utf-8")
    install("claude-code", folder, roles=("mcp",))
    said = json.loads(path.read_text(encoding="utf-8"))
    said["mcpServers"]["backstory"]["command"] = "old"
    said["mcpServers"]["later"] = {}
    path.write_text(json.dumps(said), encoding="utf-8")
    assert states(install("claude-code", folder, roles=("mcp",))) == {".mcp.json": CHANGE}
    assert states(uninstall("claude-code", folder)) == {".mcp.json": RESTORE}
    assert json.loads(path.read_text(encoding="utf-8")) == {"mcpServers": {"a": {}, "later": {}}}


def test_a_newer_installation_over_our_own_still_restores_the_first_bytes(folder: Path) -> None:
    path = folder / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text("{ }\n", encoding="utf-8")
    install("gemini", folder, roles=("mcp",))
    first = path.read_bytes()
    install("gemini", folder, roles=("mcp", "hooks"))
    assert b"backstory" in first != path.read_bytes()
    uninstall("gemini", folder)
    assert tree(folder) == {".gemini/settings.json": b"{ }\n"}


def test_what_changed_while_the_preview_was_shown_is_not_written_over(folder: Path) -> None:
    planned = plan(selection("zed", "project", folder))
    (folder / "AGENTS.md").write_text("new\n", encoding="utf-8")
    with pytest.raises(BackstoryError, match=r"AGENTS\.md changed while the preview was shown"):
        apply(planned)
    assert tree(folder) == {"AGENTS.md": b"new\n"}


def test_when_one_file_cannot_be_written_the_others_are_put_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    (folder / "AGENTS.md").write_text("# Shop\n", encoding="utf-8")
    before = tree(folder)
    real = files.write

    def full_disk(path: str, data: bytes, **options: bool) -> list[str]:
        if path.endswith("AGENTS.md") and b"backstory" in data:
            raise BackstoryError(f"{path} cannot be written (No space left on device).")
        return real(path, data, **options)

    monkeypatch.setattr(files, "write", full_disk)
    with pytest.raises(BackstoryError, match="No space left"):
        install("codex", folder)
    assert tree(folder) == before and not list(state.rglob("record.json"))
    monkeypatch.undo()


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    folder.chmod(0o500)
    try:
        with pytest.raises(BackstoryError, match="cannot be"):
            install("zed", folder)
    finally:
        folder.chmod(0o700)


def test_a_state_folder_that_cannot_be_made_stops_it_before_anything_is_written(folder: Path, state: Path) -> None:
    state.parent.write_text("a file in its place", encoding="utf-8")
    with pytest.raises(BackstoryError) as caught:
        install("zed", folder)
    assert "XDG_STATE_HOME" in caught.value.hint or "writable" in caught.value.hint
    assert tree(folder) == {}


def test_no_temporary_file_is_left_and_the_records_are_for_the_person_alone(folder: Path, state: Path) -> None:
    (folder / ".mcp.json").write_text('{"mcpServers": {"a": {"env": {"KEY": "sk-1"}}}}', encoding="utf-8")
    install("claude-code", folder)
    assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp")]
    kept = [path for path in state.rglob("*") if path.is_file() and path.name != "lock"]
    assert kept and {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


def test_a_damaged_record_costs_the_exact_bytes_only(folder: Path, state: Path) -> None:
    (folder / ".mcp.json").write_text('{"mcpServers": {"a": {}}}', encoding="utf-8")
    install("claude-code", folder, roles=("mcp",))
    record = next(state.rglob("record.json"))
    record.write_bytes(record.read_bytes()[:40])
    assert ledger.read(str(folder / ".mcp.json")) is None
    uninstall("claude-code", folder)
    assert json.loads((folder / ".mcp.json").read_text(encoding="utf-8")) == {"mcpServers": {"a": {}}}


def test_kept_bytes_that_are_not_those_that_were_kept_are_not_put_back(folder: Path, state: Path) -> None:
    path = folder / ".mcp.json"
    for damaged in (False, True):
        path.write_text('{"mcpServers": {"a": {}}}', encoding="utf-8")
        install("claude-code", folder, roles=("mcp",))
        if damaged:
            next(state.rglob("before")).write_bytes(b'{"mcpServers": {}}')
        assert states(uninstall("claude-code", folder)) == {".mcp.json": CHANGE if damaged else RESTORE}
        assert json.loads(path.read_text(encoding="utf-8")) == {"mcpServers": {"a": {}}}


def test_a_file_in_place_of_our_own_script_is_not_written_over(folder: Path) -> None:
    script = folder / ".clinerules" / "hooks" / "TaskStart"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\necho mine\n", encoding="utf-8")
    answer = install("cline", folder, roles=("hooks",))
    assert states(answer)[".clinerules/hooks/TaskStart"] == REFUSED and answer.changes == 3
    uninstall("cline", folder)
    assert script.read_text(encoding="utf-8") == "#!/bin/sh\necho mine\n" and os.listdir(script.parent) == ["TaskStart"]


def test_a_script_of_ours_that_somebody_changed_goes_and_a_copy_is_kept(folder: Path, state: Path) -> None:
    install("cline", folder, roles=("hooks",))
    script = folder / ".clinerules" / "hooks" / "TaskStart"
    assert os.access(script, os.X_OK)
    script.write_text(script.read_text(encoding="utf-8") + "echo more\n", encoding="utf-8")
    answer = uninstall("cline", folder)
    assert tree(folder) == {}
    copies = list((state / "removed").iterdir())
    assert "echo more" in copies[0].read_text(encoding="utf-8") and len(copies) == 1
    assert str(copies[0]) in " ".join(file.note for file in answer.files)


def test_hooks_of_the_person_are_not_written_into_the_project_a_second_time(folder: Path, isolated: Path) -> None:
    install("codex", Path(""), scope="user", roles=("hooks",))
    answer = install("codex", folder)
    assert ".codex/hooks.json" not in states(answer) and ".codex/config.toml" in states(answer)
    assert "~/.codex/hooks.json already" in " ".join(answer.clients[0].notes)
    uninstall("codex", Path(""), scope="user")
    assert ".codex/hooks.json" in states(install("codex", folder))
    assert not (isolated / ".codex").exists()


def test_hooks_that_the_team_committed_for_claude_code_are_not_doubled(folder: Path) -> None:
    shared = folder / ".claude" / "settings.json"
    shared.parent.mkdir()
    for command, doubled in (("backstory-hook claude-code Stop", False), ("say done", True)):
        shared.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}}), encoding="utf-8")
        answer = plan(selection("claude-code", "project", folder)).answer()
        assert (".claude/settings.local.json" in states(answer)) == doubled


def test_vs_code_gets_no_hooks_of_its_own_beside_those_of_claude_code(folder: Path) -> None:
    both = install(["claude-code", "vscode"], folder)
    assert ".github/hooks/backstory.json" not in states(both)
    assert "hooks of Claude Code" in " ".join(both.clients[1].notes)
    uninstall(["claude-code", "vscode"], folder)
    assert ".github/hooks/backstory.json" in states(install("vscode", folder))


def test_a_person_who_moved_the_folder_of_a_client_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    install(["codex", "claude-code"], Path(""), scope="user")
    assert sorted(tree(tmp_path)) == [
        "claude/.claude.json", "claude/settings.json", "codex/config.toml", "codex/hooks.json"
    ]  # fmt: skip


def test_a_foreign_handler_in_our_group_stays_when_ours_goes(folder: Path) -> None:
    path = folder / ".codex" / "hooks.json"
    path.parent.mkdir()
    group = {"hooks": [{"command": "backstory-hook codex Stop"}, {"command": "mine"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [group]}}), encoding="utf-8")
    install("codex", folder, roles=("hooks",))
    stop = json.loads(path.read_text(encoding="utf-8"))["hooks"]["Stop"]
    assert stop[0] == {"hooks": [{"command": "mine"}]} and len(stop) == 2
    path.write_text(
        json.dumps({"hooks": {"Stop": [group], "Older": [{"hooks": [group["hooks"][0]]}]}}), encoding="utf-8"
    )
    uninstall("codex", folder)
    assert json.loads(path.read_text(encoding="utf-8")) == {"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}


def test_an_event_that_an_earlier_release_used_is_given_up_at_the_next_installation(folder: Path) -> None:
    path = folder / ".codex" / "hooks.json"
    path.parent.mkdir()
    ours, mine = {"hooks": [{"command": "backstory-hook codex Interrupt"}]}, {"hooks": [{"command": "mine"}]}
    path.write_text(json.dumps({"hooks": {"Interrupt": [ours], "SubagentStop": [ours, mine]}}), encoding="utf-8")
    install("codex", folder, roles=("hooks",))
    hooks = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    assert "Interrupt" not in hooks and hooks["SubagentStop"] == [mine] and "Stop" in hooks


def test_a_pipe_or_a_folder_in_place_of_a_file_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "AGENTS.md")
    (folder / ".zed" / "settings.json").mkdir(parents=True)
    answer = install("zed", folder)
    assert set(states(answer).values()) == {REFUSED}
    assert "is no regular file" in answer.files[0].note + answer.files[1].note


def test_a_preview_shows_no_secret_of_the_lines_around() -> None:
    token = "ghp_" + "Zq8rT2vLx0YpWm4KdJ7sB1nC5fG9hA3eU6iO"
    before = f'{{\n"token": "{token}",\n"a": 1\n}}\n'.encode()
    shown = diff("x.json", before, before.replace(b'"a": 1', b'"a": 2'))
    assert token not in shown and '+"a": 2' in shown
    assert token in before.decode()


def test_a_line_of_a_megabyte_is_cut_in_the_preview() -> None:
    shown = diff("x.json", b"{" + b" " * 1_000_000 + b"}", b"{}")
    assert len(shown) < 1_000


def test_each_client_is_found_by_its_own_folder_or_program(
    tmp_path: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    root = tmp_path / "project"
    root.mkdir()
    assert detected(str(root)) == []
    for client in CLIENTS.values():
        sign = next(sign for sign in client.user_signs if not sign.startswith("%"))
        path = isolated / sign.removeprefix("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
        assert client.name in [found.name for found in detected(str(root))]
        path.unlink()
        program = tmp_path / "bin" / (client.programs or ("none",))[0]
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
        assert (client.name in [found.name for found in detected(str(root))]) == bool(client.programs)
        program.unlink()
    (root / ".cursor").mkdir()
    assert [client.name for client in detected(str(root))] == ["cursor"]
