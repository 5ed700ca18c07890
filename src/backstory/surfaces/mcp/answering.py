"""How a reply comes to be: the project that is meant is found, its index brought up to date, and named in the answer.

Every tool, resource and prompt answers through `answered`, so none can speak for a project without naming it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

from backstory.errors import BackstoryError
from backstory.project import authority
from backstory.project.keeping import Keeper
from backstory.project.opened import Project
from backstory.records.event import By
from backstory.records.hostile import fenced, one_line
from backstory.surfaces.mcp.replies import Reply, refusal
from backstory.surfaces.mcp.scope import Scope


class Caller(NamedTuple):
    """Who calls: the client's own name, and the session that this server's process stands for."""

    name: str
    session: str

    @property
    def by(self) -> By:
        """The writer that entries name; nothing in a call can change it."""
        return authority.agent(one_line(fenced(self.name), 100) or "mcp client", self.session)


def answered(scope: Scope, keeper: Keeper, path: str, ask: Callable[[Project], Reply]) -> Reply:
    """What `ask` says of the project that `path` means. Expected failures are replies too; others are raised."""
    try:
        config = scope.resolve(path)
    except BackstoryError as error:
        return refusal(error)
    about = {"name": config.name, "id": config.project, "root": config.root}
    try:
        with keeper.opened(config) as project:
            reply = ask(project)
            notices = _notices(project)
            scope.answered_for(config)
    except BackstoryError as error:
        return refusal(error, about)
    data = {"project": about, **reply.data, **({"notices": notices} if notices else {})}
    text = "\n".join([head_of(about), reply.text, *(f"Notice: {fenced(line)}" for line in notices)])
    return Reply(data, text, reply.failed)


def head_of(about: dict[str, str]) -> str:
    """The line that names the project."""
    return f"Project {about['name']} ({about['id']}, {fenced(about['root'])})."


def _notices(project: Project) -> list[str]:
    """What was said while the index was brought up to date, and whether the log is sound."""
    notices = list(project.notices)
    if project.problem_count():
        from backstory.project.opened import NOTES
        from backstory.project.verifying import problems

        # Another process may have refreshed the index since they were counted, and found nothing.
        wrong = [item for item in problems(project) if item.why not in NOTES]
        for first in wrong[:1]:
            such = f"{first.file}:{first.line} {first.message}"
            notices.append(f"the log has {len(wrong)} problem(s), such as {such}; a person can run backstory verify")
    for line in notices:
        sys.stderr.write(f"backstory: {line}\n")
    return notices
