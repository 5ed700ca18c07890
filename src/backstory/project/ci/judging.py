"""The check of a branch in continuous integration: what the memory says about it, and the anchors that it breaks."""

from __future__ import annotations

import json
import os

import msgspec

from backstory import __version__
from backstory.errors import BackstoryError, Exit
from backstory.project import changes
from backstory.project.checking import Checked, Finding, check
from backstory.project.ci import reports
from backstory.project.ci.gate import BrokenAnchor, broken_anchors
from backstory.project.opened import Project
from backstory.project.team import texts as team_texts
from backstory.project.team.approving import not_allowed
from backstory.project.team.diffing import diff
from backstory.project.team.revisions import commit_of
from backstory.recall.check import BLOCK, LEVELS, WARN

FORMS = ("markdown", "sarif", "junit")


def judge(project: Project, base: str) -> Checked:
    """What a branch changed since it left the commit `base`, checked; each broken anchor is a finding too.

    One that a person pinned and confirmed has block level, as everywhere. The history is read first: a runner's clone
    is fresh, and knows nothing of what was backed out. `BackstoryError` when git has no such commit.
    """
    from backstory.project.history import asking

    changed = changes.since(project.root, base)
    asking.ensure(project)
    found = check(project, (), changes=changed, others=False)
    broken = [_finding(project, one) for one in broken_anchors(project, found.paths)]
    # The same entry may bind the file as well: that its ground is gone is the graver news.
    gone = {one.id for one in broken}
    both = [
        *_judged(project, base),
        *broken,
        *(one for one in found.findings if one.id not in gone or one.level == BLOCK),
    ]
    both.sort(key=lambda one: -LEVELS.index(one.level))
    worst = max((one.level for one in both), key=LEVELS.index, default="")
    return msgspec.structs.replace(found, findings=tuple(both), worst=worst)


def memory_changes(project: Project, base: str) -> str:
    """What the branch changes in the memory, as a section of the comment; "" for nothing."""
    return team_texts.markdown(diff(project, base, "HEAD"))


def write(found: Checked, paths: dict[str, str], *, memory: str = "") -> tuple[str, ...]:
    """Write the reports to the paths by form (markdown, sarif, junit; "" for none); the files that were written.

    `memory` follows in the comment.
    """
    texts = {
        "markdown": lambda: reports.markdown(found) + (f"\n{memory}" if memory else ""),
        "sarif": lambda: json.dumps(reports.sarif(found, __version__), indent=1) + "\n",
        "junit": lambda: reports.junit(found),
    }
    wanted = {form: paths[form] for form in FORMS if paths.get(form)}
    for form, path in wanted.items():
        _put(path, texts[form]())
    return tuple(wanted.values())


def _put(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be written ({error.strerror}).", hint="Name a file in a folder that can be written.",
            code=Exit.REFUSED,
        ) from error  # fmt: skip


def _judged(project: Project, base: str) -> list[Finding]:
    """What the branch confirms, rejects or withdraws though its author is no approver: it blocks."""
    found = []
    for one in not_allowed(project, commit_of(project, base)):
        what = f"commit {one.commit[:10]} brings a {one.what} of {one.target[-6:]}"
        text = f"{one.author} is no approver of this, and {what}"
        why = f"approvers are {', '.join(one.approvers) or 'nobody for all of its files'}"
        found.append(Finding(one.target, one.target[-6:], one.what, BLOCK, text, why, one.files, (), ""))
    return found


def _finding(project: Project, broken: BrokenAnchor) -> Finding:
    row = project.db.execute("SELECT pinned, standing FROM entries WHERE id = ?", (broken.id,)).fetchone()
    binding = row is not None and bool(row[0]) and row[1] == "confirmed"
    text = f"This {broken.kind} cites a place that is gone now: {broken.summary}"
    why = f"{broken.why}; confirm, supersede or retire it in the same change"
    level = BLOCK if binding else WARN
    return Finding(broken.id, broken.short, broken.kind, level, text, why, broken.files, (), "")
