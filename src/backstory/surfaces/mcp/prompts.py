"""What the prompts say: our own words around what the memory holds. Loaded with the first call.

What the person typed is quoted in one line; what the memory holds stands inside its fence.
"""

from __future__ import annotations

from collections.abc import Callable

from backstory.errors import BackstoryError, Exit
from backstory.project import answers
from backstory.project.cases import open_cases
from backstory.project.history.catch_up import catch_up_search
from backstory.project.keeping import Keeper
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.records.hostile import fenced
from backstory.surfaces.mcp.answering import Caller, answered
from backstory.surfaces.mcp.entries import lines_of
from backstory.surfaces.mcp.offering import PROJECTMEM, Offer
from backstory.surfaces.mcp.offers import PROMPTS
from backstory.surfaces.mcp.replies import Reply, refusal, text_of
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.tool import WRITE

_HITS, _NEWEST = 6, 30
_OPEN = {
    "": 'Call case(summary="...", location="...") to open it, unless it is one of the cases above. Then record each'
    ' guess with record_project_memory(kind="hypothesis", issue=ID), each try with kind="trial", outcome and'
    ' failure_mode, and what ended it with kind="fix".',
    PROJECTMEM: "Call log_issue(summary, location) to open it, unless it is one of the cases above. Then call"
    " record_attempt(summary, outcome, issue_id=ID) for each try, and record_fix(summary, issue_id=ID) once it is"
    " proven.",
}
_MISSING = {
    "": "Record with record_project_memory what is missing above and the next session could not guess: decisions with"
    " their rationale, trials that failed, files that bite. Supersede or retire what no longer holds with"
    " revise_project_memory.",
    PROJECTMEM: "Record what is missing above and the next session could not guess: add_decision (with supersedes, if"
    " it replaces one), record_attempt, add_note.",
}
_READING = "This server only reads: tell a person what should be recorded."


def get(scope: Scope, keeper: Keeper, caller: Caller, offer: Offer, name: str, given: dict[str, str]) -> Reply:
    """The text of the prompt `name`; a failed reply for a prompt or an argument that does not exist."""
    try:
        _checked(name, given)
    except BackstoryError as error:
        return refusal(error)
    say: dict[str, Callable[[Project], Reply]] = {
        "open_case": lambda project: _open_case(project, offer, given["summary"], given.get("location", "")),
        "hand_over": lambda project: _hand_over(project, offer, caller),
        "take_over": lambda project: _take_over(project, given.get("session", "").strip()),
    }
    return answered(scope, keeper, given.get("project_path", ""), say[name])


def _checked(name: str, given: dict[str, str]) -> None:
    known = next((prompt["arguments"] for prompt in PROMPTS if prompt["name"] == name), None)
    if known is None:
        names = ", ".join(prompt["name"] for prompt in PROMPTS)
        raise BackstoryError(f"There is no prompt {name[:100]!r}.", hint=f"There are: {names}.", code=Exit.USAGE)
    for argument in known:
        if argument["required"] and not given.get(argument["name"], "").strip():
            raise BackstoryError(f"The argument {argument['name']!r} of {name} is missing.", code=Exit.USAGE)
    strange = sorted(set(given) - {argument["name"] for argument in known})
    if strange:
        names = ", ".join(argument["name"] for argument in known)
        raise BackstoryError(f"{name} has no argument {strange[0][:60]!r}.", hint=f"It has: {names}.", code=Exit.USAGE)


def _open_case(project: Project, offer: Offer, summary: str, location: str) -> Reply:
    catch_up_search(project)
    path = _inside(project, location)
    found = answers.search(project, summary, limit=_HITS, near=[path] if path else None)
    known = {hit.entry.id: hit.entry for hit in found.hits if hit.entry is not None}
    if path:
        known |= {item.id: item for item in answers.why(project, path).entries[:_HITS] if item.live}
    known |= {item.id: item for item in open_cases(project, _HITS)}
    lines = [line for item in known.values() for line in lines_of(item)]
    lines += [f"- {hit.source}: {fenced(hit.title, 300)}" for hit in found.hits if hit.entry is None]
    where = f" Where it shows: {fenced(location, 300)}." if location.strip() else ""
    head = f"Something is wrong: {fenced(summary, 600)}.{where}"
    head += " What the memory holds that may bear on it, open cases included:" if lines else " Nothing is known of it."
    return Reply({}, text_of(head, project.config.name, lines, [_after(_OPEN, offer)]))


def _inside(project: Project, location: str) -> str:
    """A location as a path of the project; "" for words and for what lies elsewhere."""
    try:
        return relative(project.root, location) if location.strip() else ""
    except BackstoryError:
        return ""


def _hand_over(project: Project, offer: Offer, caller: Caller) -> Reply:
    mine = [item for item in answers.timeline(project, limit=_NEWEST, session=caller.session) if item.live]
    cases = open_cases(project, _HITS)
    lines = [f"- recorded in this session: {len(mine) or 'nothing'}"]
    lines += [line for item in mine for line in lines_of(item)]
    lines += ["- open cases:" if cases else "- open cases: none"]
    lines += [line for item in cases for line in lines_of(item)]
    head = "Hand this work over to the next session, which has read nothing of it."
    last = "Then say in a few lines what was done, what is left, and which ids matter."
    return Reply({}, text_of(head, project.config.name, lines, [_after(_MISSING, offer), last]))


def _take_over(project: Project, ref: str) -> Reply:
    from backstory.surfaces.mcp.sessions import resumed

    reply = resumed(project, ref)
    last = "Go on from there. Look at the code before you trust it: it may have moved on since."
    return Reply({}, f"Take over from this session.\n{reply.text}\n{last}")


def _after(words: dict[str, str], offer: Offer) -> str:
    return words[PROJECTMEM if offer.set == PROJECTMEM else ""] if offer.role == WRITE else _READING
