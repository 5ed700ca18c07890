"""Our hooks in Claude Code itself: what reaches its model, when, and how often."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.project.memory import PERSON
from tests.real_clients.driving import Claude

RULE = "Ship from the release branch alone"
NOTE = "The alpha value is read by old clients"


@pytest.fixture
def told(claude: Claude) -> Claude:
    """The brief has the rule; the note binds `src/a.py` and is too old for the brief."""
    memory = claude.memory
    # Longer than the rules, so that it never fills up what they leave of the brief.
    memory.add("decision", f"{NOTE}: {'word ' * 20}", by=PERSON, files=["src/a.py"])
    for number in range(14):
        memory.add("decision", f"{RULE} {number}: {'word ' * 10}", by=PERSON)
    memory.commit("Keep the entries")
    with memory.open() as project:
        assert project.db is not None
    claude.install()
    return claude


def test_the_brief_is_in_every_request_once_and_nothing_is_repeated(told: Claude) -> None:
    model = told.run("Do it", told.read(), told.read(), ("Bash", {"command": "true"}))
    texts = model.texts()
    assert len(texts) == 4
    assert [text.count("SessionStart hook additional context") for text in texts] == [1, 1, 1, 1]
    assert [text.count(f"{RULE} 13") for text in texts] == [1, 1, 1, 1]
    assert [text.count(NOTE) for text in texts] == [0, 1, 1, 1]


def test_the_note_arrives_with_the_file_that_was_read(told: Claude) -> None:
    before, after, _ = told.run("Do it", told.read(), told.edit("alpha = 1", "alpha = 2")).texts()
    assert NOTE not in before and NOTE in after
    assert told.watched.read_text(encoding="utf-8") == "alpha = 2\n"


def test_the_note_arrives_with_the_prompt_that_names_the_file(told: Claude) -> None:
    (text,) = told.run("Explain src/a.py").texts()
    assert text.count(NOTE) == 1
    (other,) = told.run("Explain the release").texts()
    assert NOTE not in other


def test_an_edit_is_refused_before_it_is_made_and_passes_the_second_time(told: Claude) -> None:
    memory = told.memory
    memory.add("hotfile", "The wire format breaks old clients", by=PERSON, path="src/a.py", pinned=True)
    marker = memory.root / ".backstory/project.toml"
    marker.write_text(marker.read_text(encoding="utf-8") + '\n[hooks]\nrefuse = "info"\n', encoding="utf-8")
    edit = told.edit("alpha = 1", "alpha = 2")
    model = told.run("Do it", told.read(), edit, edit)
    assert [text.split()[2] for text in model.seen] == ["1", "1", "1", "2"]
    refused = model.texts()[2]
    # Some versions of the client put "PreToolUse:Edit hook" before the reason, others (2.1.197) do not.
    assert "The same edit is not refused again" in refused and "The wire format breaks old clients" in refused
    assert model.texts()[3].count("The same edit is not refused again") == 1


def test_a_failed_tool_is_noted(told: Claude) -> None:
    told.run("Do it", ("Bash", {"command": "make lemonade && exit 3"}), ("Bash", {"command": "true"}))
    (noted,) = [line for line in told.noted if line.startswith("failed\t")]
    assert "Bash: make lemonade" in noted


def test_a_session_that_is_resumed_is_told_nothing_twice(told: Claude) -> None:
    (first, *_) = told.run("Do it", told.read()).texts()
    texts = told.run("And now this", told.read(), words=["--continue"]).texts()
    for text in texts:
        assert "And now this" in text and "Do it" in text
        assert text.count(f"{RULE} 13") == first.count(f"{RULE} 13") == 1
        assert text.count(NOTE) == 1


def test_a_session_that_is_resumed_hears_what_is_new(told: Claude) -> None:
    told.run("Do it")
    told.memory.add("decision", "Only the newest counts", by=PERSON)
    (text,) = told.run("And now this", words=["--continue"]).texts()
    assert text.count("Only the newest counts") == 1


@pytest.mark.parametrize(
    "broken",
    [
        "/nowhere/python -I -S /nowhere/entry.py claude-code {event}",
        shlex.join([sys.executable, "-c", "import sys; print('{{not json'); sys.exit(1)"]),
        shlex.join([sys.executable, "-c", "import os; os.abort()"]),
        shlex.join([sys.executable, "-c", "import time; time.sleep(60)"]),
    ],
    ids=["no interpreter", "garbage", "killed", "hangs"],
)
def test_a_broken_or_slow_hook_never_blocks_the_session(told: Claude, broken: str) -> None:
    told.install(instead={event: broken.replace("{event}", event) for event in told.EVENTS}, timeout=1)
    began = time.monotonic()
    model = told.run("Do it", told.read(), told.edit("alpha = 1", "alpha = 2"))
    assert time.monotonic() - began < 40
    assert told.watched.read_text(encoding="utf-8") == "alpha = 2\n"
    assert RULE not in model.texts()[-1]
    told.install()
    assert RULE in told.run("Again").texts()[-1]


def test_the_instructions_of_the_server_are_in_the_prompt(told: Claude) -> None:
    told.install(instead=dict.fromkeys(told.EVENTS, ""))
    server = {"command": sys.executable, "args": ["-m", "backstory", "mcp"]}
    given = ["--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": {"backstory": server}})]
    (text,) = told.run("Do it", words=given).texts()
    assert "Before you choose an approach" in text
    (without,) = told.run("Do it").texts()
    assert "Before you choose an approach" not in without


def test_a_project_without_a_memory_is_left_in_peace(told: Claude) -> None:
    (told.root / ".backstory/project.toml").unlink()
    (told.root / ".git/backstory/project.toml").unlink(missing_ok=True)
    model = told.run("Do it", told.read(), told.edit("alpha = 1", "alpha = 2"))
    assert "hook additional context" not in model.texts()[-1] and RULE not in model.texts()[-1]


def test_the_plugin_is_valid_and_brings_the_brief_once(told: Claude) -> None:
    plugin = ROOT / "plugins/claude-code"
    env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(told.home)}
    done = subprocess.run(
        [told.program, "plugin", "validate", str(plugin)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (told.root / ".claude/settings.json").unlink()
    model = told.run("Do it", told.read(), words=["--plugin-dir", str(plugin)], env=env)
    assert [text.count(f"{RULE} 13") for text in model.texts()] == [1, 1]
    assert [text.count(NOTE) for text in model.texts()] == [0, 1]


def test_what_the_installer_writes_brings_the_brief_once(told: Claude) -> None:
    (told.root / ".claude/settings.json").unlink()
    assert RULE not in told.run("Do it").texts()[0]
    words = [sys.executable, "-m", "backstory", "install", "claude-code", "--yes"]
    env = {"PATH": os.environ["PATH"], "HOME": str(told.home)}
    done = subprocess.run(words, cwd=told.root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    model = told.run("Do it", told.read())
    hooked = [text.count("SessionStart hook additional context") for text in model.texts()]
    assert hooked == [1, 1], done.stdout
    assert [text.count(NOTE) for text in model.texts()] == [0, 1]
