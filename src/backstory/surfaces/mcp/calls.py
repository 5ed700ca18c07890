"""What the tools do. Loaded with the first call: from here on SQLite, msgspec and the project package are needed.

Each call brings the index up to date before it answers. A refused or failed call leaves nothing behind for the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.gateway import Outcome, record
from backstory.project.history.catch_up import catch_up_search
from backstory.project.keeping import Keeper
from backstory.project.opened import Project
from backstory.project.operations import operate
from backstory.project.paths import cite, relative
from backstory.project.resolve import candidates
from backstory.records.codec import shape_of
from backstory.records.hostile import fenced
from backstory.records.ids import normalise
from backstory.records.registry import kind_name
from backstory.surfaces.mcp import asking
from backstory.surfaces.mcp.answering import Caller, answered
from backstory.surfaces.mcp.entries import fields_of, fitting, lines_of
from backstory.surfaces.mcp.replies import Reply, text_of
from backstory.surfaces.mcp.scope import Scope

LISTED = 50
# The tools' names for fields that entries call otherwise.
_FIELD = {"file_refs": "files"}
# What a new text keeps of the entry that it replaces, unless it is given anew.
_KEPT = ("path", "name", "issue", "scope", "ticket", "libraries", "aliases")


def answer(scope: Scope, keeper: Keeper, caller: Caller, tool: str, arguments: dict[str, Any]) -> Reply:
    """The reply to one call. Expected failures are replies too; any other exception is the server's to report."""
    given = dict(arguments)
    path = given.pop("project_path", "")
    return answered(scope, keeper, path, lambda project: HANDLERS[tool](project, caller, given))


def get(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """What counts now, newest first."""
    kind = given.get("kind")
    found = answers.get(project, kind, limit=LISTED + 1)
    shown = fitting(fields_of(item) for item in found[:LISTED])
    more = len(found) > len(shown)
    lines = [line for item in found[: len(shown)] for line in lines_of(item)]
    what = f"of kind {kind_name(kind)} " if kind else ""
    head = f"{len(shown)} entries {what}count now, newest first." if shown else f"No entry {what}counts now."
    after = ["There are more: give a kind, or ask search_project_memory."] if more else []
    return Reply({"entries": shown, "more": more}, text_of(head, project.config.name, lines, after))


def search(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """Hits, best first, and what holds instead of something withdrawn that was asked for."""
    named = _named(project, given["query"])
    if named is not None:
        return one(project, named)
    catch_up_search(project)
    found = answers.search(
        project,
        given["query"],
        limit=given.get("limit", 10),
        kinds=[given["kind"]] if given.get("kind") else (),
        standings=[given["standing"]] if given.get("standing") else (),
        sources=[given["source"]] if given.get("source") else (),
        path=given.get("path") or None,
        near=[relative(project.root, path) for path in given.get("files", ())] or None,
    )
    shown = fitting(_hit(item) for item in found.hits)
    lines = [line for item in found.hits[: len(shown)] for line in _hit_lines(item)]
    for item in found.instead:
        lines += lines_of(item.asked, f"asked for, but {item.why}")
        lines += [f"  holds now: {one.short} {fenced(one.summary, 300)}" for one in item.holds]
    instead = [
        {**fields_of(item.asked), "why": item.why, "holds": [fields_of(one) for one in item.holds]}
        for item in found.instead
    ]
    more = found.more or len(shown) < len(found.hits)
    head = f"{len(shown)} hits, best first." if shown else "Nothing is known about that."
    after = ["There are more: raise limit, or narrow by kind or path."] if more else []
    data = {"hits": shown, "instead": fitting(instead), "more": more}
    return Reply(data, text_of(head, project.config.name, lines, after))


def _named(project: Project, query: str) -> answers.Detail | None:
    """The entry whose id, or the end of whose id, is the whole query."""
    name = normalise(query)
    found = candidates(project.db, name) if name else []
    return answers.show(project, found[0][0]) if len(found) == 1 else None


def one(project: Project, detail: answers.Detail) -> Reply:
    """One entry in full, whatever its standing, with what was done to it."""
    lines = lines_of(detail.entry)
    for event in detail.history:
        who = event.get("by", {}).get("name") or event.get("by", {}).get("kind", "")
        said = " ".join(str(part) for part in (event["kind"], "by", who, event.get("reason", "")) if part)
        lines.append(f"  {str(event['at'])[:10]}: {fenced(said, 400)}")
    data = {"hits": [{"source": "entry", **fields_of(detail.entry)}], "instead": [], "more": False}
    return Reply(data, text_of("The entry of that id.", project.config.name, lines))


def _hit(item: Any) -> dict[str, Any]:
    found = {"source": item.source, "score": item.score}
    if item.entry is not None:
        return {**found, **fields_of(item.entry)}
    more = {name: value for name, value in (("stem", item.stem), ("date", item.at)) if value}
    found |= {"id": item.ref, "title": fenced(item.title, 300), "snippet": fenced(item.snippet, 600)}
    return {**found, **more}


def _hit_lines(item: Any) -> list[str]:
    if item.entry is not None:
        return lines_of(item.entry)
    when = f", {item.at[:10]}" if item.at else ""
    head = f"- {item.source} {fenced(item.ref, 100)}{when}: {fenced(item.title, 300)}"
    return [head, f"  {fenced(item.snippet, 600)}"]


def note_down(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """A new entry through the gateway."""
    typed = given.pop("kind")
    kind = kind_name(typed) or typed
    return _written(project, record(project, caller.by, kind, _fitting_fields(kind, given)))


def _fitting_fields(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as fields of `kind`; one that the kind does not have is refused, not dropped."""
    fields = {_FIELD.get(name, name): value for name, value in given.items() if value not in ("", [])}
    strange = sorted(set(fields) - set(shape_of(kind)))
    if strange:
        own = sorted(set(shape_of(kind)) & set(_OWN_FIELDS))
        raise BackstoryError(
            f"A {kind} has no field {strange[0]}.",
            hint=f"Put it into detail. Fields that a {kind} has besides the common ones: {', '.join(own) or 'none'}.",
        )
    return fields


_OWN_FIELDS = (
    "rationale", "alternatives_rejected", "outcome", "failure_mode", "command", "path", "name", "description",
    "examples", "observation", "location", "libraries",
)  # fmt: skip


def revise(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """An operation on an entry, or a new entry in place of one."""
    action, target = given.pop("action"), given.pop("id")
    given = {name: value for name, value in given.items() if value not in ("", [])}
    known = {"supersede": {"by"}, "contest": {"against"}}.get(action, set()) | {"reason"}
    if action == "supersede" and "by" not in given:
        return _replace(project, caller, target, given)
    strange = sorted(set(given) - known)
    if strange:
        raise BackstoryError(
            f"To {action} takes no {strange[0]}.", hint=f"Arguments of {action}: id, {', '.join(sorted(known))}."
        )
    outcome = operate(
        project,
        caller.by,
        action,
        target,
        reason=given.get("reason", ""),
        successor=given.get("by", ""),
        against=given.get("against", ""),
    )
    return _written(project, outcome)


def _replace(project: Project, caller: Caller, target: str, given: dict[str, Any]) -> Reply:
    """Record a new entry that supersedes `target`, of its kind and about what it was about."""
    if "summary" not in given:
        raise BackstoryError(
            "To supersede an entry, the one that replaces it is needed.",
            hint="Give by (the id of an entry that exists) or summary (the text of a new one).",
        )
    if "against" in given:
        raise BackstoryError("To supersede takes no against.", hint="Give by or summary.")
    old = answers.show(project, target).entry
    kept = {name: old.fields[name] for name in _KEPT if old.fields.get(name)}
    files = list(dict.fromkeys(item.split("#")[0].split(":")[0] for item in old.files))
    fields = kept | {"files": files} | {name: value for name, value in given.items() if name != "reason"}
    if given.get("reason"):
        fields["detail"] = "\n".join(filter(None, [given.get("detail"), f"Replaces {old.id}: {given['reason']}"]))
    fields["supersedes"] = [old.id]
    return _written(project, record(project, caller.by, old.kind, _fitting_fields(old.kind, fields)))


def _written(project: Project, outcome: Outcome) -> Reply:
    """What became of a write, both sides of every conflict, and the exact calls that would end it."""
    item = answers.one_view(project, outcome.id)
    calls = [
        {
            "tool": "revise_project_memory",
            "arguments": {"action": "supersede", "id": clash.id, "by": outcome.id},
            "if": "the new entry replaces that one",
        }
        for clash in outcome.clashes
    ]
    conflicts = [
        {"id": clash.id, "sign": clash.sign, "why": clash.why, "summary": clash.summary, "standing": clash.standing}
        for clash in outcome.clashes
    ]
    data = {
        "status": outcome.status,
        "id": outcome.id,
        "kind": outcome.kind,
        "standing": item.standing,
        "entry": fields_of(item),
        "redacted": list(outcome.redacted),
        "conflicts": conflicts,
        "notes": list(outcome.notes),
        "next_calls": calls,
    }
    return Reply(
        data,
        text_of(written_head(item, outcome), project.config.name, written_lines(project, item, outcome), _asked(calls)),
    )


def written_head(item: answers.View, outcome: Outcome) -> str:
    """What became of a write, in our own words."""
    said = [f"{fenced(note[:1].upper() + note[1:], 500)}." for note in outcome.notes]
    return " ".join([f"{outcome.status.capitalize()}: {outcome.kind} {outcome.id}, {item.standing}.", *said])


def written_lines(project: Project, item: answers.View, outcome: Outcome) -> list[str]:
    """The entry, and what it clashes with."""
    lines = lines_of(item)
    for clash in outcome.clashes:
        lines += lines_of(answers.one_view(project, clash.id), f"{clash.sign}: {clash.why}")
    return lines


def _asked(calls: list[dict[str, Any]]) -> list[str]:
    """The question that a conflict asks, with the calls that answer it."""
    if not calls:
        return []
    lines = ["It says otherwise than, or nearly the same as, entries that count now. If it replaces one, call:"]
    for call in calls:
        given = call["arguments"]
        lines.append(f'revise_project_memory(action="supersede", id="{given["id"]}", by="{given["by"]}")')
    return lines


def query_history(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """Rows of one SELECT."""
    from backstory.surfaces.mcp.history import query_history as ask

    return ask(project, given["sql"], given.get("rows", 100))


def brief(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """The brief for the files named, or for what is changing."""
    return asking.brief(project, given.get("files", []), given.get("budget", 0))


def precheck(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """What is known that speaks against a change."""
    return asking.precheck(project, given["files"], given.get("intent", ""), given.get("diff", ""))


def case(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """Open a case, show one, or list those that are open."""
    ref, summary = given.get("id", "").strip(), given.get("summary", "")
    if summary and ref:
        raise BackstoryError("A case is opened or shown, not both.", hint="Give id or summary.")
    if summary:
        fields = {"summary": summary, **placed(project, "issue", given.get("location", ""))}
        return _written(project, record(project, caller.by, "issue", fields))
    return asking.case(project, ref) if ref else asking.cases(project)


def placed(project: Project, kind: str, location: str) -> dict[str, Any]:
    """A location as fields of `kind`: cited where it is a place in a file of the project, else in words."""
    text = location.strip()
    found: dict[str, Any] = {}
    try:
        reference = cite(project.root, text) if text else None
    except BackstoryError:
        reference = None
    if reference is not None and os.path.lexists(os.path.join(project.root, reference.path)):
        found["files"] = [text]
    if text and ("location" in shape_of(kind) or "files" not in found):
        found["location" if "location" in shape_of(kind) else "detail"] = text
    return found


def status(project: Project, caller: Caller, given: dict[str, Any]) -> Reply:
    """The figures of the project."""
    return asking.status(project, caller.session)


HANDLERS: dict[str, Callable[[Project, Caller, dict[str, Any]], Reply]] = {
    "get_project_memory": get,
    "search_project_memory": search,
    "brief": brief,
    "precheck": precheck,
    "case": case,
    "query_history": query_history,
    "status": status,
    "record_project_memory": note_down,
    "revise_project_memory": revise,
}
