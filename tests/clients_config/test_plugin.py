"""The plugin for Claude Code: of the shape that its validator takes, and true in what it teaches.

The shape was held against `claude plugin validate` of 2.1.332, which needs the real client.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

import backstory
from backstory.project.clients import claude_code
from backstory.project.clients.commands import runs_ours
from tests.conftest import ROOT
from tests.project.memory import Memory

PLUGIN = ROOT / "plugins" / "claude-code"
SKILL = PLUGIN / "skills" / "project-memory" / "SKILL.md"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_manifest_names_the_plugin_with_the_version_of_the_package() -> None:
    manifest = read(PLUGIN / ".claude-plugin" / "plugin.json")
    assert (manifest["name"], manifest["version"], manifest["license"]) == ("backstory", backstory.__version__, "MIT")
    assert set(manifest) <= {"name", "version", "description", "author", "license", "keywords"}
    assert isinstance(manifest["author"]["name"], str)


def test_the_marketplace_leads_to_the_plugin() -> None:
    market = read(ROOT / ".claude-plugin" / "marketplace.json")
    assert market["name"] == "backstory" and market["owner"]["name"]
    (entry,) = market["plugins"]
    assert entry["source"].startswith("./") and (ROOT / entry["source"]).resolve() == PLUGIN
    assert entry["name"] == read(PLUGIN / ".claude-plugin" / "plugin.json")["name"]


def test_its_hooks_are_those_that_the_installer_writes_but_found_on_path() -> None:
    hooks = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    assert list(hooks) == [hook.event for hook in claude_code.EVENTS]
    for hook in claude_code.EVENTS:
        ((group,), (handler,)) = hooks[hook.event], hooks[hook.event][0]["hooks"]
        assert group.get("matcher", "") == hook.matcher and runs_ours(handler)
        # A number: a text such as "5s" makes the client refuse the whole file.
        assert handler == {
            "type": "command", "command": "backstory-hook", "args": ["claude-code", hook.event], "timeout": 5
        }  # fmt: skip


def test_its_server_is_the_one_of_committed_files() -> None:
    assert read(PLUGIN / ".mcp.json") == {"mcpServers": {"backstory": {"command": "backstory", "args": ["mcp"]}}}


def test_the_programs_it_calls_are_scripts_of_the_package() -> None:
    scripts = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project.scripts]")[1].split("[")[0]
    assert {"backstory", "backstory-hook"} <= set(re.findall(r"^([\w-]+) =", scripts, re.MULTILINE))


def test_the_skill_says_when_it_is_meant_and_every_command_in_it_runs(memory: Memory) -> None:
    _, head, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    front = yaml.safe_load(head)
    assert front["name"] == SKILL.parent.name and 40 < len(front["description"]) <= 1024
    commands = [code for code in re.findall(r"`([^`\n]+)`", body) if code.startswith("backstory ")]
    assert len(commands) >= 8
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *shlex.split(command)[1:]],
            cwd=memory.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_readme_says_what_the_directory_wants_to_know() -> None:
    words = (PLUGIN / "README.md").read_text(encoding="utf-8").split()
    assert len(words) >= 40 and "backstory@backstory" in words
