"""What the reading tools for work in hand answer: the brief, the check before a change, cases, and the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.cases import count_open_cases, open_cases
from backstory.project.fencing import inert
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.records.hostile import fenced
from backstory.surfaces.mcp.entries import fields_of, fitting, lines_of
from backstory.surfaces.mcp.replies import Reply, advice, text_of

if TYPE_CHECKING:
    from backstory.project.checking import Finding

OPEN_CASES, UNKNOWN = 30, 5


def brief(project: Project, files: list[str], budget: int) -> Reply:
    """The brief for `files`, or for what is changing; in the text it stands in its own fence."""
    made = answers.brief(project, paths=files, budget=budget)
    data = {
        "text": made.text,
        "tokens": made.tokens,
        "ids": list(made.ids),
        "stale": made.stale,
        "left_out": made.left_out,
        "working_set": inert(made.working_set),
    }
    return Reply(data, made.text.rstrip("\n") or _nothing(made))


def _nothing(made: answers.BriefAnswer) -> str:
    if made.left_out:
        return f"Of {made.left_out} lines none fits into {made.budget} tokens; raise budget."
    return "There is nothing to say: the memory holds nothing that is live, fresh and relevant here."


def precheck(project: Project, files: list[str], intent: str, diff: str) -> Reply:
    """What speaks against a change of `files`, each with its evidence. Nothing known is never called safe."""
    from backstory.project.checking import check

    if not files and not diff:
        raise BackstoryError(
            "There is nothing to check.", hint="Name the files that are about to change, or give diff."
        )
    found = check(project, [relative(project.root, path) for path in files], intent=intent, diff=diff)
    lines = [line for item in found.findings for line in _finding(item)]
    lines += [f"  snoozed: {fenced(line, 300)}" for line in found.snoozed]
    unread = [f"The memory could not be read whole: {fenced(advice(why), 600)}" for why in found.problems]
    head = "\n".join([*unread, _verdict(len(found.findings), found.worst, bool(unread))])
    after = [f"{found.more} more bind these files: search_project_memory with path shows them."] if found.more else []
    data = {
        "worst": found.worst,
        "findings": inert([msgspec.to_builtins(item) for item in found.findings]),
        "unknown": inert(found.unknown),
        "snoozed": inert(found.snoozed),
        "problems": inert(found.problems),
        "more": found.more,
    }
    return Reply(data, text_of(head, project.config.name, lines, [*_unknown(found.unknown), *after]))


def _finding(item: Finding) -> list[str]:
    lines = [f"- {item.level} {item.short} {item.kind}: {fenced(item.text, 600)}"]
    lines += [f"  why: {fenced(item.why, 300)}"] if item.why else []
    lines += [f"  files: {fenced(', '.join(item.files), 600)}"] if item.files else []
    return lines + ([f"  sources: {fenced(', '.join(item.evidence), 600)}"] if item.evidence else [])


def _unknown(paths: tuple[str, ...]) -> list[str]:
    lines = [f"Nothing is known about {fenced(path, 300)}." for path in paths[:UNKNOWN]]
    return lines + ([f"Nothing is known about {len(paths) - UNKNOWN} other files."] if len(paths) > UNKNOWN else [])


def _verdict(count: int, worst: str, unread: bool) -> str:
    if count:
        return f"{count} findings, the gravest: {worst}." if count > 1 else f"1 finding: {worst}."
    return "No finding in what could be read." if unread else "No finding."


def case(project: Project, ref: str) -> Reply:
    """One case with all that belongs to it, oldest first."""
    found = answers.case(project, ref)
    shown = fitting(fields_of(item) for item in found.entries)
    issue = [found.issue] if found.issue is not None else []
    lines = [line for item in [*issue, *found.entries[: len(shown)]] for line in lines_of(item)]
    data: dict[str, Any] = {"case": inert(found.ref), "status": found.status, "entries": shown}
    if found.issue is not None:
        data["issue"] = fields_of(found.issue)
    where = "" if found.issue is not None else " It lives elsewhere."
    after = ["There is more: search_project_memory finds it."] if len(shown) < len(found.entries) else []
    head = f"The case {fenced(found.ref, 200)} is {found.status}.{where}"
    return Reply(data, text_of(head, project.config.name, lines, after))


def cases(project: Project) -> Reply:
    """The open cases, newest first."""
    found, count = open_cases(project, OPEN_CASES), count_open_cases(project)
    shown = fitting(fields_of(item) for item in found)
    lines = [line for item in found[: len(shown)] for line in lines_of(item)]
    head = f"{count} open, newest first." if found else "No case is open."
    after = [f"{count - len(shown)} older ones are not shown."] if len(shown) < count else []
    return Reply({"status": "open", "entries": shown}, text_of(head, project.config.name, lines, after))


def status(project: Project, session: str) -> Reply:
    """The figures of the project, those that say something as lines."""
    from backstory.project.status import status as figures_of

    figures = figures_of(project, session)
    data: dict[str, Any] = inert(msgspec.to_builtins(figures))
    data = {"memory": {name: value for name, value in data.items() if name not in ("project", "name", "root")}}
    said = {
        "live": figures.live, "stale": figures.stale, "waiting for a person": figures.waiting,
        "conflicts": figures.conflicts, "rejected values": figures.rejected_values,
        "not in this tree": figures.not_in_tree, "recorded in this session": figures.session_entries,
        "tokens spent on models": figures.spent_tokens,
    }  # fmt: skip
    lines = [f"- {name}: {value}" for name, value in said.items()]
    lines += [f"- of kind {name}: {value}" for name, value in figures.kinds.items()]
    lines += [f"- note: {fenced(note, 300)}" for note in figures.notes]
    whole = "The log is whole." if not figures.problems else f"The log has {figures.problems} problem(s)."
    on = f" On branch {fenced(figures.branch, 200)}." if figures.branch else ""
    return Reply(data, text_of(whole + on, project.config.name, lines))
