"""Codex runs a hook only after the person trusted it, and says nothing when it does not.

The trust stands in `~/.codex/config.toml` as `[hooks.state."<path of hooks.json>:<event>:<group>:<place>"]` with a
`trusted_hash`. How the hash is made is Codex's own matter: that it is there is all that is looked at.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from backstory.project.clients.codex import CLIENT, NAME
from backstory.project.clients.places import resolved
from backstory.project.doctoring.entries import Start
from backstory.project.doctoring.finding import ADVICE, GOOD, Check

_WORDS = re.compile(r"(?<!^)(?=[A-Z])")
_STEP = "start `codex` in this project and say /hooks; then look at each and trust it"


def checks(starts: Sequence[Start]) -> list[Check]:
    """Whether the hooks of each `hooks.json` are trusted; nothing where there is none of ours."""
    hooks = [start for start in starts if start.part.client.name == NAME and start.event]
    trusted = _trusted()
    out = []
    for path in dict.fromkeys(start.path for start in hooks):
        mine = [start for start in hooks if start.path == path]
        waiting = [start.event for start in mine if not _has(trusted, path, start.event)]
        if not waiting:
            out.append(Check(NAME, GOOD, f"Codex was told to trust the {len(mine)} hooks of {mine[0].name}"))
            continue
        which = "every hook" if len(waiting) == len(mine) else ", ".join(waiting)
        out.append(Check(NAME, ADVICE, f"Codex skips {which} of {mine[0].name} until you trust it", _STEP))
    return out


def _has(trusted: Sequence[str], path: str, event: str) -> bool:
    name = _WORDS.sub("_", event).lower()
    return any(f"{known}:{name}:" in key for key in trusted for known in {path, os.path.realpath(path)})


def _trusted() -> list[str]:
    """The keys of the hooks that are trusted; none where the file cannot be read."""
    found: list[str] = []
    try:
        with open(resolved("~/.codex/config.toml", "", CLIENT), "rb") as file:
            hooks: Any = tomllib.load(file).get("hooks")
        states = hooks.get("state", {}) if isinstance(hooks, dict) else {}
        found += [key for key, state in states.items() if isinstance(state, dict) and state.get("trusted_hash")]
    except (OSError, ValueError, AttributeError):
        return []
    return found
