"""What is read where it lies: tickets and decision records of the project itself. An import would double them."""

from __future__ import annotations

import os

from backstory.project.opened import Project
from backstory.sources import decision_places, ticket_places

# The readers of such files.
SOURCES = ("backlog", "adr")


def files(project: Project, path: str, source: str) -> frozenset[str]:
    """The whole paths of what the project reads itself; none where `path` lies elsewhere."""
    root = os.path.realpath(project.root)
    place = os.path.realpath(path)
    if source not in SOURCES or os.path.commonpath((root, place)) != root:
        return frozenset()
    settings = project.config.settings
    found, _ = ticket_places.discover(project.root, settings.tickets)
    records, _ = decision_places.discover(project.root, settings.decisions)
    return frozenset(os.path.join(root, path) for path in (*(item.path for item in found), *records))
