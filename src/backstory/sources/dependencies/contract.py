"""A dependency as one file of a project tells it."""

from __future__ import annotations

from typing import Any, NamedTuple

# Names of ecosystems as people write them before a library: `npm:react@^18`.
ECOSYSTEMS = ("pypi", "npm", "cargo", "go", "gem", "maven", "composer", "hex", "nuget", "docker", "actions")


class Told(NamedTuple):
    """`range` is what the manifest asks for; `locked` the version that a lock file or an exact pin fixed.

    A lock file lists what others need as well: `declared` is False there, and its versions count only for names that
    a manifest declares.
    """

    ecosystem: str
    name: str
    range: str = ""
    locked: str = ""
    declared: bool = True


def table(value: object) -> dict[str, Any]:
    """An object of JSON or TOML; an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def plain_name(ecosystem: str, name: str) -> str:
    """The name under which two spellings of one library meet."""
    text = name.strip().lower()
    if ecosystem == "pypi":
        # As PEP 503 says it.
        for sign in "_.":
            text = text.replace(sign, "-")
        while "--" in text:
            text = text.replace("--", "-")
    return text
