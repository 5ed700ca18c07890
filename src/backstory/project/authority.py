"""Who is really writing. The payload never says it.

A person is somebody at a terminal (stdin and stderr are one) with no agent around: coding agents run commands in
terminals of their own, but they mark the environment. Everything else on the command line is an agent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from backstory.errors import BackstoryError
from backstory.records.event import AGENT, HOOK, IMPORT, PERSON, By

# Variables that mark a command as run by an agent, and the agent's name.
AGENT_MARKS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CURSOR_AGENT": "cursor",
    "GEMINI_CLI": "gemini-cli",
    "GEMINI_SESSION_ID": "gemini-cli",
    "OPENCODE": "opencode",
    "OPENCODE_CLIENT": "opencode",
    "CLINE_ACTIVE": "cline",
    "COPILOT_AGENT": "copilot",
    "GOOSE_TERMINAL": "goose",
    "AMP_CURRENT_THREAD_ID": "amp",
    "AUGMENT_AGENT": "augment",
    "AI_AGENT": "agent",
    "AGENT": "agent",
    "CI": "ci",
}
_SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID", "AMP_CURRENT_THREAD_ID")


def at_terminal(env: Mapping[str, str] | None = None, *, terminal: bool | None = None, person: str = "") -> By:
    """The writer of a command: `person` names whoever sits there when it is a person."""
    env = os.environ if env is None else env
    if terminal is None:
        terminal = _interactive()
    agent = agent_name(env)
    if terminal and not agent:
        return By(kind=PERSON, name=person or env.get("USER", "") or env.get("USERNAME", ""))
    return By(kind=AGENT, name=agent or "command line", session=session_id(env))


def writer(root: str) -> By:
    """The writer of a command in the project at `root`; a person goes by the name that git knows."""
    by = at_terminal()
    if by.kind != PERSON:
        return by
    from backstory.sources.git.blobs import user_name

    try:
        name = user_name(root)
    except BackstoryError:
        name = None
    return By(kind=PERSON, name=name[:100]) if name else by


def _interactive() -> bool:
    """Whether stdin and stderr are a terminal; a stream that is closed or absent is none."""
    try:
        return bool(sys.stdin and sys.stderr and sys.stdin.isatty() and sys.stderr.isatty())
    except ValueError:
        return False


def agent_name(env: Mapping[str, str]) -> str:
    """The agent that the environment speaks of, or ""."""
    return next((name for mark, name in AGENT_MARKS.items() if env.get(mark, "") not in ("", "0", "false")), "")


def session_id(env: Mapping[str, str]) -> str:
    """The session that the client says it is in, or ""."""
    return next((env[name][:100] for name in _SESSIONS if env.get(name)), "")


def agent(name: str, session: str) -> By:
    """A writer over MCP: the client's name and the session of this server."""
    return By(kind=AGENT, name=name[:100], session=session[:100])


def hook(name: str, session: str) -> By:
    """A hook or capture: what it writes is proposed."""
    return By(kind=HOOK, name=name[:100], session=session[:100])


def importer(name: str) -> By:
    """An import of prose: what it writes is proposed."""
    return By(kind=IMPORT, name=name[:100])
