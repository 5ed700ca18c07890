"""What of the official conformance suite applies to this server, and what does not, with the reason.

The suite (`@modelcontextprotocol/conformance`) asks for tools, resources and prompts by names of its own. Where our own
code answers, `open_server.py` has a stand-in of that name; what is about things that we have not stands in `NOT_OURS`.
"""

import json
from pathlib import Path
from typing import NamedTuple

SUITE = "0.2.0-alpha.12"
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
OLD, NEW, BOTH = REVISIONS[:2], REVISIONS[2:], REVISIONS[1:]

# Scenarios that must pass, with the revisions of the protocol at which the suite asks for them.
OURS: dict[str, tuple[str, ...]] = {
    "server-initialize": OLD,
    "server-session-lifecycle": OLD,
    "ping": OLD,
    "server-stateless": NEW,
    "sep-2164-resource-not-found": NEW,
    "caching": NEW,
    "http-header-validation": NEW,
    "input-required-result-missing-input-response": NEW,
    "input-required-result-unsupported-methods": NEW,
    "input-required-result-ignore-extra-params": NEW,
    "input-required-result-validate-input": NEW,
    "tools-list": REVISIONS,
    "tools-call-simple-text": REVISIONS,
    "tools-call-error": REVISIONS,
    "resources-list": REVISIONS,
    "resources-read-text": REVISIONS,
    "resources-templates-read": REVISIONS,
    "prompts-list": REVISIONS,
    "prompts-get-simple": REVISIONS,
    "prompts-get-with-args": REVISIONS,
    "server-sse-multiple-streams": BOTH,
    "dns-rebinding-protection": BOTH,
}

_TEXT_ONLY = "the memory is text: no tool, resource or prompt of ours holds images, sound, bytes or embedded resources"
_ASKS_NOTHING = "the server asks its client for nothing: no elicitation, no sampling, no roots"
_TASKS = "an extension that the server does not declare: a call is answered at once"
# Scenarios that do not apply: the reason. A name that ends with `*` stands for all that begin so.
NOT_OURS: dict[str, str] = {
    "completion-complete": "the server declares no completions",
    "logging-set-level": "the server declares no logging; the protocol gave it up in 2026-07-28",
    "tools-call-image": _TEXT_ONLY,
    "tools-call-audio": _TEXT_ONLY,
    "tools-call-embedded-resource": _TEXT_ONLY,
    "tools-call-mixed-content": _TEXT_ONLY,
    "resources-read-binary": _TEXT_ONLY,
    "prompts-get-embedded-resource": _TEXT_ONLY,
    "prompts-get-with-image": _TEXT_ONLY,
    "tools-call-with-logging": "no tool sends log messages to its client",
    "tools-call-with-progress": "no tool reports progress",
    "tools-call-sampling": _ASKS_NOTHING,
    "tools-call-elicitation": _ASKS_NOTHING,
    "elicitation-sep1034-defaults": _ASKS_NOTHING,
    "elicitation-sep1330-enums": _ASKS_NOTHING,
    "input-required-result-basic-elicitation": _ASKS_NOTHING,
    "input-required-result-basic-sampling": _ASKS_NOTHING,
    "input-required-result-basic-list-roots": _ASKS_NOTHING,
    "input-required-result-request-state": _ASKS_NOTHING,
    "input-required-result-multiple-input-requests": _ASKS_NOTHING,
    "input-required-result-multi-round": _ASKS_NOTHING,
    "input-required-result-non-tool-request": _ASKS_NOTHING,
    "input-required-result-result-type": _ASKS_NOTHING,
    "input-required-result-tampered-state": _ASKS_NOTHING,
    "input-required-result-capability-check": _ASKS_NOTHING,
    "server-sse-polling": "the server closes no stream for the client to come again: a call is answered at once",
    "resources-subscribe": "the server declares no subscriptions: what is read is made anew at each reading",
    "resources-unsubscribe": "the server declares no subscriptions: what is read is made anew at each reading",
    "json-schema-2020-12": "no schema of ours uses `$defs`, `$anchor`, `allOf` or `if`: not every client reads them",
    "http-custom-header-server-validation": "no tool of ours takes an argument from a header (`x-mcp-header`)",
    "tasks-*": _TASKS,
    "sep-2640-skills-*": "an extension that the server does not declare: it serves no skills",
}

# Checks inside a scenario that applies which need a tool that we have no use for.
LEFT_OUT: dict[str, str] = {
    "sep-2575-server-rejects-undeclared-capability": _ASKS_NOTHING,
    "sep-2575-missing-capability-http-400": _ASKS_NOTHING,
    "sep-2575-http-server-no-independent-requests-on-stream": _ASKS_NOTHING,
    "sep-2575-server-no-log-without-loglevel": "no tool sends log messages to its client",
}


class Check(NamedTuple):
    """One verdict of the suite."""

    scenario: str
    id: str
    status: str
    why: str


def verdicts(folder: Path) -> list[Check]:
    """What the suite wrote below `folder`, a folder of each scenario."""
    found = []
    for path in sorted(folder.glob("*/checks.json")):
        scenario = path.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        for item in json.loads(path.read_text("utf-8")):
            found.append(Check(scenario, item["id"], item["status"], str(item.get("errorMessage", ""))))
    return found


def reason(scenario: str) -> str:
    """Why a scenario does not apply; "" if it does."""
    for name, why in NOT_OURS.items():
        if scenario == name or (name.endswith("*") and scenario.startswith(name[:-1])):
            return why
    return ""


def markdown() -> list[str]:
    """The tables for the docs."""
    lines = ["| scenario | at |", "|---|---|"]
    lines += [f"| `{name}` | {', '.join(revisions)} |" for name, revisions in OURS.items()]
    lines += ["", "| does not apply | because |", "|---|---|"]
    by_reason: dict[str, list[str]] = {}
    for name, why in NOT_OURS.items():
        by_reason.setdefault(why, []).append(f"`{name}`")
    lines += [f"| {', '.join(names)} | {why} |" for why, names in by_reason.items()]
    lines += ["", "| check of `server-stateless` that does not apply | because |", "|---|---|"]
    return lines + [f"| `{name}` | {why} |" for name, why in LEFT_OUT.items()]
