"""Command lines of hooks, run for real by the shells that clients hand them to."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.project.clients import claude_code, cursor, gemini
from backstory.project.clients.commands import Commands, here, runs_ours

OURS = "backstory/surfaces/hooks"
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]
FOLDERS = (
    "plain", "First Last (x)", "it's here", "back\\slash", 'say "hi"', "$HOME and `id`", "a&b;c|d",
    "*?[x]", "\u00fc\u4e16",
)  # fmt: skip


def fake(folder: Path) -> Path:
    """An interpreter that writes its arguments down as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "python"
    script = "import json, sys; print(json.dumps(sys.argv[1:]))"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{script}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.skipif(os.name == "nt", reason="shells of Unix")
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", FOLDERS)
def test_a_hook_command_reaches_its_program_with_its_words_from_any_folder(
    name: str, shell: str, tmp_path: Path
) -> None:
    program = fake(tmp_path / name)
    entry = str(tmp_path / name / "lib" / "entry.py")
    line = Commands(str(program), entry).hook("claude-code", "SessionStart")
    done = subprocess.run([shell, "-c", line], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert json.loads(done.stdout) == ["-I", "-S", entry, "claude-code", "SessionStart"]


@pytest.mark.skipif(os.name == "nt", reason="shells of Unix")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_of_this_very_tool_answers_with_exit_0_and_nothing_where_no_memory_is(
    shell: str, tmp_path: Path
) -> None:
    line = here(committed=False).hook("claude-code", "SessionStart")
    done = subprocess.run([shell, "-c", line], input=b"{}", capture_output=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_on_windows_paths_have_slashes_and_spaces_stand_in_double_quotes() -> None:
    tool = Commands(r"C:\Users\First Last (x)\tool\python.exe", r"C:\tool\entry.py", windows=True)
    assert tool.hook("codex", "SessionStart") == (
        '"C:/Users/First Last (x)/tool/python.exe" -I -S C:/tool/entry.py codex SessionStart'
    )
    assert "\\" not in "".join(tool.mcp())


def test_powershell_is_told_that_a_quoted_word_is_a_program() -> None:
    tool = Commands(r"C:\Users\Pat O'Neil ($x)\python.exe", r"C:\tool\entry.py", windows=True)
    line = "& 'C:/Users/Pat O''Neil ($x)/python.exe' -I -S C:/tool/entry.py gemini Stop"
    assert tool.hook("gemini", "Stop", powershell=True) == line and runs_ours({"command": line.replace("tool", OURS)})
    bare = Commands(r"C:\py\python.exe", r"C:\tool\entry.py", windows=True).hook("gemini", "Stop", powershell=True)
    assert bare == "C:/py/python.exe -I -S C:/tool/entry.py gemini Stop"
    for client in (cursor, gemini):
        handler = client._HOOKS.handler(tool, client.NAME, "x")
        assert handler["command"].startswith("& '")
    unix = Commands("/a b/python", "/e.py")
    assert unix.hook("gemini", "Stop", powershell=True) == unix.hook("gemini", "Stop")


def test_claude_code_is_given_the_form_without_a_shell_on_windows_and_a_line_elsewhere() -> None:
    make = claude_code._HOOKS.handler
    there = make(Commands(r"C:\A b\python.exe", r"C:\e.py", windows=True), "claude-code", "Stop")
    assert (there["command"], there["args"]) == ("C:/A b/python.exe", ["-I", "-S", "C:/e.py", "claude-code", "Stop"])
    assert "args" not in make(Commands("/a b/python", "/e.py"), "claude-code", "Stop")


def test_committed_commands_are_plain_names() -> None:
    tool = Commands("/opt/python", "/opt/entry.py", "/opt/bin/backstory", committed=True)
    assert tool.hook("codex", "Stop") == "backstory-hook codex Stop"
    assert tool.mcp() == ["backstory", "mcp"]


def test_the_server_is_started_by_the_program_on_path_or_else_by_the_interpreter() -> None:
    assert Commands("/opt/python", "/e.py", "/opt/bin/backstory").mcp() == ["/opt/bin/backstory", "mcp"]
    assert Commands("/opt/python", "/e.py").mcp() == ["/opt/python", "-m", "backstory", "mcp"]


def test_the_interpreter_has_one_name_however_it_was_called(monkeypatch: pytest.MonkeyPatch) -> None:
    one = here(committed=False).python
    monkeypatch.setattr(sys, "executable", sys.executable + "3.99")
    assert here(committed=False).python == one or sys.prefix == sys.base_prefix
    assert Path(one).exists()


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "backstory-hook codex Stop"},
        {"command": "C:/x/backstory-hook.exe codex Stop"},
        {"command": "'/a b/python' -I -S '/a b/backstory/surfaces/hooks/entry.py' codex Stop"},
        {"command": "python", "args": ["-I", "-S", r"C:\x\backstory\surfaces\hooks\entry.py", "codex", "Stop"]},
        {"bash": "exec backstory-hook copilot Stop", "powershell": "x"},
        {"matcher": "", "hooks": [{"type": "command", "command": '"backstory-hook" codex Stop'}]},
    ],
)
def test_a_handler_that_runs_our_hook_is_known_as_ours(handler: object) -> None:
    assert runs_ours(handler)


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "my-backstory-hook codex"},
        {"command": "backstory-hooks run"},
        {"command": "say done", "statusMessage": "backstory-hook"},
        {"type": "prompt", "prompt": "Explain backstory-hook codex Stop"},
        {"command": "python other/surfaces/hooks/entry.py"},
        "backstory-hook",
        None,
    ],
)
def test_a_handler_that_only_names_us_is_not_ours(handler: object) -> None:
    assert not runs_ours(handler)
