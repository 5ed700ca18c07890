"""What the environment of a command says about the session around it, beyond who it is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backstory.project.authority import agent_name

# Set by whoever starts agents and knows what it starts; it wins.
OWN = "BACKSTORY_MODEL"
# What a client takes its model from. Somebody may have switched since, so it only counts as the client's own setting.
_BY_AGENT = {
    "claude-code": "ANTHROPIC_MODEL",
    "gemini-cli": "GEMINI_MODEL",
    "goose": "GOOSE_MODEL",
}
_VERSIONED = re.compile(r"\d")


def model_name(env: Mapping[str, str]) -> str:
    """The exact model of the session, or "" where nobody says it: `sonnet` alone is a family, not a model."""
    own = " ".join(env.get(OWN, "").split())[:200]
    if own:
        return own
    name = " ".join(env.get(_BY_AGENT.get(agent_name(env), ""), "").split())[:200]
    return name if _VERSIONED.search(name) else ""
