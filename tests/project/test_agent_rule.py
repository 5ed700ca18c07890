"""The rule for agents is true: every command in it runs, every call in it is one that the tools take."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

from backstory.project.agent_rule import TEXT
from backstory.surfaces.mcp.tools import TOOLS
from tests.project.memory import Memory

CODE = re.findall(r"`([^`\n]+)`", TEXT)
COMMANDS = [code for code in CODE if code.startswith("backstory ")]
CALLS = [code for code in CODE if re.fullmatch(r"\w+\(.*\)", code)]


def test_it_has_commands_and_calls_to_be_held_against() -> None:
    assert len(COMMANDS) >= 6 and len(CALLS) == 2
    assert "git log" in CODE


def test_every_command_in_it_runs(memory: Memory) -> None:
    for command in COMMANDS:
        arguments = shlex.split(command)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *arguments],
            cwd=memory.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_what_its_record_commands_wrote_is_found_by_its_search(memory: Memory) -> None:
    run = [sys.executable, "-m", "backstory"]
    for command in (code for code in COMMANDS if " decide " in code or " tried " in code):
        subprocess.run([*run, *shlex.split(command)[1:]], cwd=memory.root, check=True, capture_output=True)
    found = subprocess.run([*run, "brief"], cwd=memory.root, check=True, capture_output=True, text=True).stdout
    assert "Retry three times" in found and "Keep the connection open" in found


def test_every_call_in_it_fits_the_schema_of_its_tool() -> None:
    for call in CALLS:
        node = ast.parse(call, mode="eval").body
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        schema = TOOLS[node.func.id].input_schema
        given = {keyword.arg for keyword in node.keywords}
        assert given <= set(schema["properties"]) and set(schema["required"]) <= given


def test_the_readme_or_the_history_page_shows_it_as_it_is() -> None:
    pages = (Path(__file__).parents[2] / "docs" / "history.md").read_text(encoding="utf-8")
    assert TEXT.strip() in pages
