"""The tools of Codex: what a call does, which files its patch changes, how its output says it ended."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from backstory.sources.transcripts import patches
from backstory.sources.transcripts.fields import Record, exit_code, first, folder_of, text
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import said as as_text
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
)

_DOES = {
    name: does
    for does, names in {
        SHELL: "exec_command shell shell_command local_shell local_shell_call container.exec run_shell_command"
        " unified_exec user_shell",
        READ: "view_image read_file read_mcp_resource list_mcp_resources list_dir",
        SEARCH: "grep_files tool_search tool_search_call file_search",
        EDIT: "apply_patch",
        FETCH: "web_search web_search_call",
        AGENT: "spawn_agent send_input send_message wait wait_agent close_agent resume_agent followup_task"
        " interrupt_agent",
        PLAN: "update_plan request_user_input create_goal update_goal get_goal",
    }.items()
    for name in names.split()
}
_PATHS = ("path", "file_path", "dir_path")
_WORDS = ("query", "pattern", "url", "message", "prompt", "chars")
_PATCH = re.compile(r"\*\*\* Begin Patch\s*\n.*?(?:\n\*\*\* End Patch|\Z)", re.DOTALL)
_BEGIN = "*** Begin Patch"
_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})\s*")
_HEADER = re.compile(
    r"(?:Chunk ID|Wall time|Original token count|Total output lines|Process running with session ID)\b[^\n]{0,200}"
)
# A head has five lines, that of a patch through a shell eight; more are an output that looks like one.
_HEAD_LINES = 12
_FAILED = (
    "failed in sandbox", "execution error", "failed to parse function arguments", "apply_patch verification failed",
    "unsupported call", "unsupported custom tool", "tool call error", "exec_command failed", "write_stdin failed",
    "command timed out", "sandbox denied", "unable to locate image", "collab spawn failed",
    "Failed to create unified exec",
)  # fmt: skip
_DONE = ("Success. Updated the following files", "Plan updated")
_REFUSED = (
    "exec command rejected by user",
    "patch rejected by user",
    "user rejected MCP tool call",
    "user cancelled MCP",
)
_STOPPED = ("aborted by user", "aborted")


class Given(msgspec.Struct, frozen=True):
    """How a call ended: `text` is its output without the client's own head, `refused` and `stopped` were a person."""

    outcome: str
    text: str
    code: int | None = None
    refused: bool = False
    stopped: bool = False


def arguments(value: object) -> Record:
    """The arguments of a call: an object, or the text of one; another text is told as `input`."""
    if isinstance(value, str):
        try:
            found = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return {"input": value}
        return found if isinstance(found, dict) else {"input": value}
    return as_record(value)


def shell_line(value: object) -> str:
    """A command as a line: what stands behind `bash -lc`, or the words of a list."""
    if isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        if len(words) == 3 and words[1] in ("-lc", "-c", "-Command", "/c"):
            return words[2]
        return shlex.join(words)
    return text(value)


def call_items(
    offset: int, at: int | None, call: str, tool: str, given: Record, server: str = "", changes: object = None
) -> Iterator[Item]:
    """A call, and the edits that it asks for; `changes` are those that an event told."""
    name = tool.removeprefix("functions.")
    does = _DOES.get(name, OTHER)
    command = shell_line(given.get("cmd") or given.get("command")) if does in (SHELL, OTHER) else ""
    folder = folder_of(first(given, "workdir", "cwd", "working_directory"))
    patch = _patch(name, given, command)
    edits = list(_edits(offset, at, call, patch) if patch else _changed(offset, at, call, changes))
    if edits:
        does, command = EDIT, ""
    if is_own_tool(name) or is_own_tool(server) or is_own_command(command):
        does = MEMORY
    paths = tuple(path for key in _PATHS if (path := text(given.get(key)))) if does != SHELL else ()
    paths = paths or tuple(dict.fromkeys(edit.path for edit in edits))
    words = "" if does == SHELL else "\n".join(word for key in _WORDS if (word := text(given.get(key))))
    yield Call(offset, at, call, name, does, command, paths, folder, words)
    yield from edits


def _patch(name: str, given: Record, command: str) -> str:
    if name == "apply_patch":
        asked = first(given, "input", "patch")
    else:
        asked = command if _BEGIN in command and "apply_patch" in command else ""
    found = _PATCH.search(asked) if _BEGIN in asked else None
    return found[0] if found else ""


def _edits(offset: int, at: int | None, call: str, patch: str) -> Iterator[Edit]:
    for file in patches.files(patch):
        yield Edit(
            offset, at, call, file.path, file.old, file.new, file.old is None and not file.gone, file.gone, file.moved
        )


def _changed(offset: int, at: int | None, call: str, changes: object) -> Iterator[Edit]:
    """The edits of an event that tells what was done to each file."""
    for path, value in as_record(changes).items():
        change = as_record(value)
        # Formerly the kind was the name of an object: `{"update": {"unified_diff": ..}}`.
        kind = text(change.get("type")) or next(iter(change), "")
        change = change if "type" in change else as_record(change.get(kind))
        whole, moved = text(change.get("content")), text(change.get("move_path"))
        if kind == "add":
            yield Edit(offset, at, call, path, None, whole, whole=True)
        elif kind == "delete":
            yield Edit(offset, at, call, path, whole or None, "", gone=True)
        else:
            old, new = _sides(text(change.get("unified_diff")))
            yield Edit(offset, at, call, path, old, new, moved=moved)


def _sides(diff: str) -> tuple[str, str]:
    """What stood and what stands in the hunks of a unified diff."""
    lines = [line for line in diff.split("\n") if not line.startswith(("@@", "---", "+++", "\\"))]
    old = [line[1:] for line in lines if line[:1] in ("-", " ")]
    return "\n".join(old), "\n".join(line[1:] for line in lines if line[:1] in ("+", " "))


def given_by_output(output: object) -> Given:
    """How a call ended by what its output says: a text, the text of an object, or an object."""
    whole: Any = output
    if isinstance(output, str) and output.startswith("{") and '"metadata"' in output[-400:] + output[:400]:
        try:
            whole = msgspec.json.decode(output)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            whole = output
    if isinstance(whole, dict):
        said = (
            first(whole, "output", "stdout", "content", "text")
            or as_text(whole.get("content"))
            or text(whole.get("stderr"))
        )
        number = exit_code(as_record(whole.get("metadata")).get("exit_code"))
        number = exit_code(whole.get("exit_code", whole.get("exitCode"))) if number is None else number
        flag = whole.get("success")
        flag = not whole["isError"] if isinstance(whole.get("isError"), bool) else flag
    else:
        said, number, flag = as_text(whole), None, None
    said, written = headless(said)
    return judged(said, number if number is not None else written, flag)


def judged(said: str, number: int | None, flag: object) -> Given:
    """How a call ended by its output without a head, its exit code, and a mark of success where there is one."""
    if said.startswith(_REFUSED):
        return Given(ERROR, said, None, refused=True)
    if said.startswith(_STOPPED) and len(said) < 80:
        return Given(UNKNOWN, said, None, stopped=True)
    if number is not None:
        return Given(ERROR if number else OK, said, number)
    if isinstance(flag, bool):
        return Given(OK if flag else ERROR, said)
    if said.startswith(_FAILED):
        return Given(ERROR, said)
    return Given(OK if said.startswith(_DONE) else UNKNOWN, said)


def headless(said: str) -> tuple[str, int | None]:
    """An output without what the client wrote above it, and the exit code that stood there."""
    number: int | None = None
    rest = said
    for _line in range(_HEAD_LINES):
        line, _, below = rest.partition("\n")
        if written := _CODE.fullmatch(line):
            number = int(written[1])
        elif line == "Output:":
            # A patch through a shell has a second head below the first.
            if not below.startswith("Exit code: "):
                return below, number
        elif not _HEADER.match(line):
            return (said if rest is said else rest), number
        if not below:
            return "", number
        rest = below
    return rest, number
