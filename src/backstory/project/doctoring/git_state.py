"""Git around the memory: whether the log would be shared, and whether merges keep both sides."""

from __future__ import annotations

import os

from backstory.config import FOLDER
from backstory.project.doctoring.finding import Check
from backstory.project.opened import Project
from backstory.project.setup import attributes_path, write_attributes
from backstory.sources.git.run import git


def checks(project: Project, *, fix: bool) -> list[Check]:
    """What git makes of the memory's files."""
    config = project.config
    if not config.places.git_dir:
        return [Check("git", "advice", "no git here: freshness knows age and missing files, not commits")]
    checks = []
    row = project.db.execute("SELECT value FROM index_meta WHERE key = 'git_note' AND value <> ''").fetchone()
    if row:
        checks.append(Check("git", "advice", row[0]))
    # check-ignore refuses the literal pathspecs that every call of ours asks for.
    ignored = git(["--no-literal-pathspecs", "check-ignore", "-q", f"{FOLDER}/log/x.jsonl"], project.root)
    if ignored.code == 0 and not config.private:
        message = f"git ignores {FOLDER}/log: the memory would not be shared"
        checks.append(
            Check("git", "bad", message, "take it out of .gitignore, or start a private memory in a fresh clone")
        )
    attributes = attributes_path(config.places)
    if not config.private and os.path.isdir(os.path.dirname(attributes)) and not os.path.exists(attributes):
        if fix:
            write_attributes(config.places)
            checks.append(Check("git", "fixed", f"wrote {FOLDER}/.gitattributes"))
        else:
            checks.append(
                Check("git", "advice", f"{FOLDER}/.gitattributes is missing", "`backstory doctor --fix` writes it")
            )
    return checks or [Check("git", "good", f"on branch {project.branch}, the log is not ignored")]
