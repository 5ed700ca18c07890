"""The tools of Claude Code: what a call does, what it edits, how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from backstory.sources.transcripts.fields import exit_code, text
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import records as as_records
from backstory.sources.transcripts.own import is_own_command, is_own_tool
from backstory.sources.transcripts.stream import (
    AGENT,
    EDIT,
    ERROR,
    FETCH,
    MEMORY,
    OK,
    OTHER,
    PLAN,
    READ,
    SEARCH,
    SHELL,
    UNKNOWN,
    Call,
    Edit,
    Item,
    Rejection,
)  # fmt: skip

_DOES = {
    name: does
    for does, names in {
        SHELL: "Bash bash BashOutput KillBash KillShell PowerShell Monitor",
        READ: "Read NotebookRead LS ReadMcpResourceTool ListMcpResourcesTool",
        SEARCH: "Glob Grep ToolSearch LSP",
        EDIT: "Edit MultiEdit Write NotebookEdit",
        FETCH: "WebFetch WebSearch",
        AGENT: "Task Agent TaskOutput AgentOutputTool TaskStop SendMessage Workflow",
        PLAN: "TodoWrite TodoRead ExitPlanMode EnterPlanMode AskUserQuestion TaskCreate TaskUpdate TaskList TaskGet",
    }.items()
    for name in names.split()
}
_PATHS = ("file_path", "notebook_path", "path")
_WORDS = ("pattern", "url", "query", "description", "prompt", "skill", "plan")

_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,10})(?=\s|$)")
# How a result begins where neither a flag nor a structured result says that the tool did its work.
_DONE = re.compile(
    r"The file .{1,4096} has been (?:updated|created)|File (?:created|written|edited) successfully"
    r"|Todos have been modified success|Web search results for query: "
    r"|Applied \d+ edits? to |Updated cell |Inserted cell |Deleted cell |\s*\d{1,7}[\u2192\t]"
)
_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    "User chose to stay in plan mode",
)
_SAID = re.compile(r"the user said:\s*", re.IGNORECASE)
# The client's own words in the place of a reason, when a person wants to talk about its questions first.
_NO_REASON = "The user wants to clarify these questions."
_STOPPED = "[Request interrupted by user"


def call_items(offset: int, at: int | None, block: dict[str, Any]) -> Iterator[Item]:
    """The call of a `tool_use` block, and the edits that it asks for."""
    call, tool, given = text(block.get("id")), text(block.get("name")), as_record(block.get("input"))
    command = text(given.get("command"))
    does = _DOES.get(tool, OTHER)
    if is_own_tool(tool) or is_own_command(command):
        does = MEMORY
    paths = tuple(path for name in _PATHS if (path := text(given.get(name))))
    words = "\n".join(word for name in _WORDS if (word := text(given.get(name))))
    yield Call(offset, at, call, tool, does, command, paths, words=words)
    if does == EDIT and paths:
        yield from _edits(offset, at, call, tool, given, paths[0])


def _edits(offset: int, at: int | None, call: str, tool: str, given: dict[str, Any], path: str) -> Iterator[Edit]:
    if tool == "Write":
        yield Edit(offset, at, call, path, None, text(given.get("content")), whole=True)
    elif tool == "NotebookEdit":
        yield Edit(offset, at, call, path, None, text(given.get("new_source")))
    else:
        for edit in as_records(given.get("edits")) if tool == "MultiEdit" else (given,):
            yield Edit(offset, at, call, path, text(edit.get("old_string")), text(edit.get("new_string")))


def outcome(tool: str, flag: object, said: str, more: object) -> tuple[str, int | None]:
    """How a call ended, and its exit code. `flag` is `is_error`, `more` the record's `toolUseResult`."""
    shape = as_record(more)
    number = exit_code(shape.get("exitCode"))
    written = _EXIT.match(said) if number is None and _DOES.get(tool, SHELL) == SHELL else None
    if written:
        number = int(written[1])
    if flag is True or shape.get("is_error") is True or number:
        return ERROR, number
    if said.startswith(("<tool_use_error>", "Error: ")) and not shape and flag is not False:
        return ERROR, number
    if shape.get("interrupted") is True or said.startswith(_STOPPED):
        return UNKNOWN, number
    if shape.get("backgroundTaskId") or shape.get("status") in ("async_launched", "running"):
        # It was started; how it ended is told elsewhere, if at all.
        return UNKNOWN, number
    if flag is False or number == 0 or (flag is None and (_has_shape(more) or _DONE.match(said))):
        return OK, number
    return UNKNOWN, number


def _has_shape(more: object) -> bool:
    """A structured result: a failure is written as a text."""
    return isinstance(more, dict | list) and bool(more)


def refusal(offset: int, at: int | None, call: str, said: str, record: dict[str, Any]) -> Rejection | None:
    """The rejection that a result tells of: a person's, not one of a rule or of a mode without anybody to ask."""
    # 2.1.332 says who decided; there `toolDenialKind` is "user-rejected" where nobody could be asked, too.
    source = text(as_record(record.get("permissionDecision")).get("source"))
    by_person = source.startswith("user") if source else record.get("toolDenialKind") == "user-rejected"
    if not by_person and (source or not said.startswith(_REFUSED)):
        return None
    reason = _SAID.split(said, maxsplit=1)[1:]
    if not reason and record.get("holdsPersonsWords") is True and not said.startswith(_REFUSED):
        reason = [said]
    note = reason[0].split("\n\nNote: The user's next message may contain a correction", 1)[0] if reason else ""
    return Rejection(offset, at, call, "" if note.startswith(_NO_REASON) else note.strip())


def is_stop(said: str) -> bool:
    """Whether a text says that a person stopped the agent."""
    return said.startswith(_STOPPED)
