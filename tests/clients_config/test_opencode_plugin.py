"""The shim that OpenCode loads, run by node: it hands over what the hook says, and nothing that goes wrong."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backstory.project.clients import opencode
from backstory.project.clients.commands import Commands

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")
DRIVER = """
import { Backstory } from "./backstory.mjs"
const hooks = await Backstory({ directory: "/shop" })
const system = ["first"], second = ["first"], context = [], output = { output: "text" }, odd = { output: 3 }
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system: second })
await hooks["tool.execute.before"]({ tool: "read", sessionID: "s", callID: "1" }, { args: { filePath: "a.py" } })
await hooks["tool.execute.after"]({ tool: "read", sessionID: "s", callID: "1" }, output)
await hooks["tool.execute.after"]({ tool: "read", sessionID: "s", callID: "2" }, odd)
await hooks["experimental.session.compacting"]({ sessionID: "s" }, { context })
console.log(JSON.stringify({ system, second, output, odd, context }))
"""


def drive(folder: Path, program: str) -> Any:
    """What the session holds after the events, with a hook program of this text."""
    hook = folder / "hook"
    hook.write_text(program, encoding="utf-8")
    hook.chmod(0o755)
    text = opencode._plugin(Commands(str(hook), "/lib/entry.py"))
    assert text.startswith(opencode.MARK)
    (folder / "backstory.mjs").write_text(text, encoding="utf-8")
    (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
    done = subprocess.run([str(NODE), "driver.mjs"], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_what_the_hook_says_reaches_prompt_result_and_compaction(tmp_path: Path) -> None:
    program = f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat >> {tmp_path}/in; echo >> {tmp_path}/in\n'
    session = drive(tmp_path, program + 'echo \'{"context": "known: \\"WAL\\""}\'\n')
    assert session["system"] == session["second"] == ["first", 'known: "WAL"']
    assert session["output"]["output"] == 'text\n\nknown: "WAL"' and session["odd"]["output"] == 3
    assert session["context"] == ['known: "WAL"']
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    events = [hook.event for hook in opencode.EVENTS]
    assert [call.split()[-1] for call in calls] == [events[0], events[1], events[1], events[2]]
    assert all(call.startswith("-I -S /lib/entry.py opencode ") for call in calls)
    bodies = [json.loads(line) for line in (tmp_path / "in").read_text(encoding="utf-8").splitlines()]
    assert bodies[1] == {
        "hook_event_name": events[1], "session_id": "s", "cwd": "/shop", "tool_name": "read",
        "tool_input": {"filePath": "a.py"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\necho no json\n",
        "#!/bin/sh\nexit 3\n",
        "#!/nowhere\n",
        "#!/bin/sh\necho '{\"context\": 5}'\n",
    ],
)
def test_a_hook_that_fails_or_says_nothing_changes_nothing(program: str, tmp_path: Path) -> None:
    session = drive(tmp_path, program)
    assert session == {
        "system": ["first"], "second": ["first"], "output": {"output": "text"}, "odd": {"output": 3}, "context": []
    }  # fmt: skip


def test_the_committed_shim_calls_the_program_on_path() -> None:
    assert 'COMMAND = ["backstory-hook", "opencode"]' in opencode._plugin(Commands("/x", "/y", committed=True))
