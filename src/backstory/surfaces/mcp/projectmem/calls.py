"""What the tools of projectmem do here: each is one of our own questions or writes, and answers with its text.

There is no active project and no active issue kept anywhere: a call names its project as with our own tools, and the
case that is meant by default is the newest open one that the log says this session opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from backstory.config import FOLDER
from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.cases import open_cases
from backstory.project.gateway import Outcome, record
from backstory.project.keeping import Keeper
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.records.hostile import fenced
from backstory.surfaces.mcp import asking, calls
from backstory.surfaces.mcp.answering import Caller, answered, head_of
from backstory.surfaces.mcp.entries import lines_of
from backstory.surfaces.mcp.offering import Offer
from backstory.surfaces.mcp.replies import Reply, refusal, text_of
from backstory.surfaces.mcp.scope import Scope

SUMMARY_TOKENS, CONTEXT_TOKENS = 1_500, 2_000
# A hit of a search is about so many tokens.
_HIT_TOKENS, _MOST_HITS = 100, 50
# Our own tools, which hints name, by what does the same here.
_HERE = (
    ("search_project_memory(query=", "search_events(query="),
    ("search_project_memory", "search_events"),
    ("get_project_memory", "get_summary"),
    ("record_project_memory opens", "log_issue opens"),
    ("record_project_memory", "log_issue, record_attempt, record_fix, add_decision or add_note"),
    ("project_path", "project"),
)
Given = dict[str, Any]


def answer(scope: Scope, keeper: Keeper, caller: Caller, offer: Offer, tool: str, arguments: Given) -> Reply:
    """The reply to one call: its text once for models and once under `result` for programs."""
    given = dict(arguments)
    if tool == "list_projects":
        return _in_words(_projects(scope))
    if tool == "get_instructions":
        return _in_words(_resolved(scope, keeper, given, lambda project: Reply({}, offer.instructions.strip())))
    return _in_words(_resolved(scope, keeper, given, lambda project: HANDLERS[tool](project, caller, given)))


def _resolved(scope: Scope, keeper: Keeper, given: Given, ask: Callable[[Project], Reply]) -> Reply:
    try:
        path = scope.path_of(given.pop("project", ""))
    except BackstoryError as error:
        return refusal(error)
    return answered(scope, keeper, path, ask)


def _in_words(reply: Reply) -> Reply:
    text = reply.text
    if reply.failed:
        for ours, here in _HERE:
            text = text.replace(ours, here)
    kept = {name: value for name, value in reply.data.items() if name in ("project", "error", "notices", "id")}
    return Reply({"result": text, **kept}, text, reply.failed)


def _projects(scope: Scope) -> Reply:
    """Every project that can be named in a call; which one it is, is said in each answer."""
    reach = scope.reach()
    lines = [head_of({"name": item.name, "id": item.project, "root": item.root}) for item in reach]
    if scope.bound() is not None:
        return Reply({}, "\n".join([*lines, "This server speaks for this project alone; project may be left out."]))
    if not lines:
        return Reply(
            {}, f"No project is known here, and none lies below {fenced(scope.start)}. Name one by its folder."
        )
    return Reply({}, "\n".join([*lines, "Each call needs one of these as project, by name, id or folder."]))


def _current(project: Project, caller: Caller, given: Given) -> Reply:
    return Reply({}, "A call with this argument speaks for the project above, and writes there.")


def _summary(project: Project, caller: Caller, given: Given) -> Reply:
    return asking.brief(project, [], SUMMARY_TOKENS)


def _map(project: Project, caller: Caller, given: Given) -> Reply:
    from backstory.project.mapping.answer import lines
    from backstory.project.mapping.making import project_map

    made = [f"- {fenced(line, 400)}" for line in lines(project_map(project))]
    return Reply({}, text_of("What the project is made of.", project.config.name, made))


def _plan(project: Project, caller: Caller, given: Given) -> Reply:
    from backstory.project.planning import read

    plan = read(project.config)
    if not plan.text.strip():
        return Reply({}, f"There is no plan. One is begun in {fenced(plan.path)}, or with `backstory plan add`.")
    lines = [_boxed(line) for line in plan.text.splitlines() if line.strip()]
    head = f"What is intended ({fenced(plan.path)}); it is no record of what happened."
    return Reply({}, text_of(head, project.config.name, lines))


def _boxed(line: str) -> str:
    """A line of the plan inside the fence: as deep as it stood, its box kept, its other marks gone."""
    depth = (len(line) - len(line.lstrip())) // 2
    text = line.strip().lstrip("-*+ ")
    box, rest = (f"{text[:3].lower()} ", text[3:]) if text[:3].lower() in ("[ ]", "[x]") else ("", text)
    return f"{'  ' * min(depth, 5)}- {box}{fenced(rest, 600)}"


def _precheck(project: Project, caller: Caller, given: Given) -> Reply:
    path = relative(project.root, given["file_path"])
    if path.split("/")[0] == FOLDER:
        return Reply({}, f"{fenced(path)} belongs to the memory itself: it is written by these tools, not by hand.")
    return asking.precheck(project, [path], "", "")


def _issue(project: Project, caller: Caller, given: Given) -> Reply:
    return asking.case(project, given["issue_id"])


def _search(project: Project, caller: Caller, given: Given) -> Reply:
    asked = {"query": given["query"], "limit": min(given.get("limit", 10), _MOST_HITS)}
    return calls.search(project, caller, asked)


def _score(project: Project, caller: Caller, given: Given) -> Reply:
    figures = asking.status(project, caller.session)
    return Reply({}, f"There is no grade, and no count of hours or money saved: nobody measured those.\n{figures.text}")


def _context(project: Project, caller: Caller, given: Given) -> Reply:
    tokens, focus = given.get("tokens", CONTEXT_TOKENS), given.get("focus", "").strip()
    if not focus:
        return asking.brief(project, [], tokens)
    try:
        path = relative(project.root, focus)
    except BackstoryError:
        path = ""
    if path and os.path.lexists(os.path.join(project.root, path)):
        return asking.brief(project, [path], tokens)
    return calls.search(project, caller, {"query": focus, "limit": max(1, min(_MOST_HITS, tokens // _HIT_TOKENS))})


def _gotchas(project: Project, caller: Caller, given: Given) -> Reply:
    wanted = given.get("library", "").strip().lower()
    found = [
        item
        for item in answers.get(project, "lesson")
        if any(wanted in str(name).lower() for name in item.fields.get("libraries", ()) or [""])
    ]
    about = f" about {fenced(wanted, 100)}" if wanted else ""
    head = f"{len(found)} lessons{about} count now in this project." if found else f"No lesson{about} counts now."
    return Reply({}, text_of(head, project.config.name, [line for item in found[:30] for line in lines_of(item)]))


def _log_issue(project: Project, caller: Caller, given: Given) -> Reply:
    return _record(project, caller, "issue", given)


def _attempt(project: Project, caller: Caller, given: Given) -> Reply:
    issue = _meant(project, caller, given)
    opened = ""
    if not issue:
        outcome = record(project, caller.by, "issue", _fields(project, "issue", given))
        issue, opened = outcome.id, f"No case was open in this session, so one was opened: {outcome.id}."
    more = {"issue": issue, "outcome": given.get("outcome", "failed")}
    return _record(project, caller, "trial", given, more, opened)


def _fix(project: Project, caller: Caller, given: Given) -> Reply:
    issue = _meant(project, caller, given)
    if not issue:
        cases = ", ".join(f"{item.short} ({item.summary[:60]})" for item in open_cases(project, 10))
        raise BackstoryError(
            "Which case is fixed? This session opened none that is still open.",
            hint=f"Give issue_id: {cases}." if cases else "No case is open: call log_issue first.",
        )
    return _record(project, caller, "fix", given, {"issue": issue})


def _decision(project: Project, caller: Caller, given: Given) -> Reply:
    old = given.get("supersedes", "").strip()
    return _record(project, caller, "decision", given, {"supersedes": [old]} if old else {})


def _note(project: Project, caller: Caller, given: Given) -> Reply:
    return _record(project, caller, "note", given)


def _meant(project: Project, caller: Caller, given: Given) -> str:
    """The case of a call: the one named, else the newest open one that this session opened; "" if there is none."""
    named: str = given.get("issue_id", "").strip()
    own = [] if named else open_cases(project, 1, session=caller.session)
    return named or (own[0].id if own else "")


def _fields(project: Project, kind: str, given: Given) -> Given:
    return {"summary": given["summary"], **calls.placed(project, kind, given.get("location", ""))}


def _record(
    project: Project, caller: Caller, kind: str, given: Given, more: Given | None = None, before: str = ""
) -> Reply:
    outcome = record(project, caller.by, kind, {**_fields(project, kind, given), **(more or {})})
    item = answers.one_view(project, outcome.id)
    head = " ".join(filter(None, [before, calls.written_head(item, outcome)]))
    lines = calls.written_lines(project, item, outcome)
    return Reply({"id": outcome.id}, text_of(head, project.config.name, lines, _after(outcome)))


def _after(outcome: Outcome) -> list[str]:
    """With these tools an entry that is there cannot be put in the place of another: a person can."""
    if not outcome.clashes:
        return []
    calls_ = [f"`backstory supersede {clash.id} --by {outcome.id}`" for clash in outcome.clashes]
    said = "It says otherwise than, or nearly the same as, entries that count now. If it replaces one, run or ask for:"
    return [said, *calls_]


HANDLERS: dict[str, Callable[[Project, Caller, Given], Reply]] = {
    "get_summary": _summary,
    "get_project_map": _map,
    "get_plan": _plan,
    "precheck_file": _precheck,
    "get_issue": _issue,
    "search_events": _search,
    "get_score": _score,
    "get_context": _context,
    "get_global_gotchas": _gotchas,
    "log_issue": _log_issue,
    "record_attempt": _attempt,
    "record_fix": _fix,
    "add_decision": _decision,
    "add_note": _note,
    "current_project": _current,
}
