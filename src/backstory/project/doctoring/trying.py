"""Runs each installed hook and the MCP server as their clients would.

The payloads are real in form and name no session, so that nothing is noted of them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import backstory
from backstory.project.clients.commands import TIMEOUT_SECONDS
from backstory.project.doctoring import programs
from backstory.project.doctoring.entries import Start
from backstory.project.doctoring.finding import ADVICE, BAD, GOOD, Check
from backstory.project.doctoring.processes import Answered, Ran, ask_server, run

# A busy machine takes this long for a first start; clients wait 10 to 60 seconds for a server.
SERVER_SECONDS = 30.0
# What is left after this is not tried: thirty hooks that hang would take minutes.
ALL_SECONDS = 60.0
# As many as a client runs side by side; more would make each other slow.
_AT_ONCE = 2
# The events at which a session is given the brief.
_STARTS = ("SessionStart", "sessionStart", "TaskStart", "experimental.chat.system.transform")
_PROBE = "no-such-file.backstory-doctor"
_REQUESTS: tuple[dict[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "backstory-doctor", "version": backstory.__version__},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    # The first two are answered before the SDK is there; this one is the SDK's.
    {"jsonrpc": "2.0", "id": 3, "method": "prompts/list"},
)


class Tried(NamedTuple):
    """One start and what came of it; `wrong` is the end of a sentence, "" when all is well.

    `seconds` is negative for one that there was no time for.
    """

    start: Start
    wrong: str
    seconds: float
    said: bool = False
    version: str = ""
    names: tuple[str, ...] = ()


def payload(event: str, root: str) -> bytes:
    """What a client sends at an event, in the words of all of them; without a session nothing is noted."""
    path = os.path.join(root, _PROBE)
    tool = {"file_path": path, "path": path, "filePath": path}
    body = {
        "hook_event_name": event,
        "session_id": "",
        "cwd": root,
        "workspace_roots": [root],
        "source": "startup",
        "prompt": "",
        "tool_name": "Read",
        "tool_input": tool,
        "tool_info": {"file_path": path},
        "postToolUse": {"toolName": "read_file", "parameters": {"path": path}},
    }
    return json.dumps(body).encode()


def tried(starts: Iterable[Start], root: str, *, brief: bool) -> list[Tried]:
    """Each start once, a few at a time; `brief`: the memory has something to say to a session that starts."""
    wanted: dict[tuple[object, ...], list[Start]] = {}
    for start in starts:
        wanted.setdefault((start.words, start.line, start.event), []).append(start)

    deadline = time.monotonic() + ALL_SECONDS

    def one(same: list[Start]) -> Tried:
        if time.monotonic() > deadline:
            return Tried(same[0], "", -1.0)
        made = _hook(same[0], root, brief) if same[0].event else _server(same[0], root)
        return made._replace(names=tuple(dict.fromkeys(start.name for start in same)))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(one, wanted.values()))


def checks(found: Sequence[Tried]) -> list[Check]:
    """A line for each client's hooks and each server that work, and one for each thing that does not."""
    out = [_ill(one) for one in found if one.wrong]
    good = [one for one in found if not one.wrong and one.seconds >= 0]
    untried = sum(one.seconds < 0 for one in found)
    if untried:
        text = f"{untried} more were not tried, since the others took over {ALL_SECONDS:g} seconds"
        out.append(Check("hooks", ADVICE, text, "mend the others, then `backstory doctor`"))
    for title in dict.fromkeys(one.start.part.client.title for one in good if one.start.event):
        hooks = [one for one in good if one.start.event and one.start.part.client.title == title]
        out.append(Check("hooks", GOOD, _of_hooks(title, hooks)))
    return out + [_of_server(one) for one in good if not one.start.event]


def _ill(one: Tried) -> Check:
    event = one.start.event
    what = f"the hook {event}" if event else "the server"
    return Check("hooks" if event else "mcp", BAD, f"{', '.join(one.names)}: {what} {one.wrong}", _step(one.start))


def _step(start: Start) -> str:
    shown = f"{start.line or ' '.join(start.words)}"
    return f"run it yourself to see why: {shown}" if len(shown) < 300 else "`backstory install` writes it again"


def _of_hooks(title: str, hooks: Sequence[Tried]) -> str:
    slowest = max(one.seconds for one in hooks)
    count = "1 hook answers" if len(hooks) == 1 else f"{len(hooks)} hooks answer"
    told = ", and a session gets the brief" if any(one.said and one.start.event in _STARTS for one in hooks) else ""
    return f"{title}: {count} within {max(slowest, 0.001):.2g} seconds{told}"


def _of_server(one: Tried) -> Check:
    text = f"the server in {', '.join(one.names)} answers within {max(one.seconds, 0.001):.2g} seconds"
    if one.version == backstory.__version__:
        return Check("mcp", GOOD, text)
    text += f", but is version {one.version or 'unknown'}, and this is {backstory.__version__}"
    return Check("mcp", ADVICE, text, "update the other installation, or take it off PATH")


def _hook(start: Start, root: str, brief: bool) -> Tried:
    line = programs.shell_line(start)
    words = ["/bin/sh", "-c", line] if line else start.words
    ran = run(words, payload(start.event, root), root, TIMEOUT_SECONDS)
    return Tried(start, _wrong(ran) or _silent(start, ran, brief), ran.seconds, bool(ran.out.strip()))


def _wrong(ran: Ran) -> str:
    said = " ".join(ran.err.decode("utf-8", "replace").split())[-300:]
    if ran.late:
        return f"did not end within {TIMEOUT_SECONDS} seconds"
    if ran.code != 0:
        return f"ended with exit code {ran.code}{f': {said}' if said else ''}"
    # A hook never fails its host; what went wrong is on stderr.
    for sign in ("could not be read", "no hook ", "was ended after"):
        if sign in said:
            return f"did nothing: {said.removeprefix('backstory: ')}"
    if ran.out.strip():
        try:
            json.loads(ran.out)
        except ValueError:
            return "answered with something that is no JSON"
    return ""


def _silent(start: Start, ran: Ran, brief: bool) -> str:
    if brief and start.event in _STARTS and start.event in start.part.client.injects and not ran.out.strip():
        return "gave a session no brief, although there is one"
    return ""


def _server(start: Start, root: str) -> Tried:
    answered: Answered = ask_server(start.words, _REQUESTS, root, SERVER_SECONDS)
    version = str(answered.results.get(1, {}).get("serverInfo", {}).get("version", ""))
    wrong = answered.why
    if not wrong and not answered.results[2].get("tools"):
        wrong = "offers no tool"
    return Tried(start, wrong, answered.seconds, version=version)
