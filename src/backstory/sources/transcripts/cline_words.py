"""The words and tags that Cline and Roo put into a conversation, as their sources write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.sources.transcripts.fields import Record
from backstory.sources.transcripts.stream import ERROR, OK, UNKNOWN
from backstory.sources.transcripts.tagged import Tags

TAGS = Tags(
    ("task", "user_message", "user_input", "feedback", "answer"),
    {
        "environment_details": "environment",
        "explicit_instructions": "instructions",
        "user_instructions": "instructions",
        "file_content": "ide",
        "folder_content": "ide",
        "url_content": "ide",
        "workspace_diagnostics": "ide",
        "git_working_state": "ide",
        "terminal_output": "ide",
        "hook_context": "hook",
        "system-reminder": "reminder",
    },
)
RESULT = re.compile(r"\s*\[([a-z_]+)(?: for [^\n]*| to [^\n]*|[^\]\n]*)?\] Result:[ \t]*\n?")
# A person's words inside of a result: an answer to a question, a remark with a permission.
OWN = re.compile(r"<(?:answer|user_message)>\n?(.*?)\n?</(?:answer|user_message)>", re.DOTALL)
_DENIED = re.compile(r"\s*(?:The user denied this operation|\{\"status\":\s*\"denied\")")
_FEEDBACK = re.compile(r"<feedback>\n?(.*?)\n?</feedback>|\"feedback\":\s*\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_FAILED = re.compile(r"\s*(?:The tool execution failed|\{\"status\":\s*\"error\"|\[ERROR\]|Error(?: executing)?[: ])")
_DONE = re.compile(r"The (?:user's edits|updated|content|file) [^\n]*successfully saved|Changes successfully applied")
_TOOLS = (
    "execute_command read_file write_to_file replace_in_file apply_diff search_and_replace insert_content edit_file"
    " search_replace apply_patch search_files list_files list_code_definition_names codebase_search browser_action"
    " use_mcp_tool access_mcp_resource ask_followup_question attempt_completion plan_mode_respond act_mode_respond"
    " new_task switch_mode update_todo_list web_fetch web_search condense new_rule load_mcp_documentation"
    " fetch_instructions run_slash_command use_skill generate_image"
)
_PIECE = re.compile(rf"<(thinking|{'|'.join(_TOOLS.split())})>(.*?)(?:</\1>|\Z)", re.DOTALL)
_ARGUMENT = re.compile(r"<([a-z_]+)>(.*?)</\1>", re.DOTALL)
_LONGEST = 100_000


def refused(words: str) -> str | None:
    """What a person said when they did not let a call run, "" when nothing; None when they did let it."""
    if not _DENIED.match(words):
        return None
    found = _FEEDBACK.search(words)
    return (found[1] or found[2] or "").strip() if found else ""


def outcome_of(words: str, flag: object, code: int | None) -> str:
    """How a result ended: by its flag, its exit code, or the words for it; no word is no success."""
    if flag is True or code or _FAILED.match(words):
        return ERROR
    return OK if flag is False or code == 0 or _DONE.search(words[:2_000]) else UNKNOWN


def shown_calls(words: str) -> Iterator[tuple[str, str, Record]]:
    """The pieces of an answer in their order: `text`, `thinking`, or `call` with the tool and its arguments."""
    at = 0
    for piece in _PIECE.finditer(words):
        yield "text", words[at : piece.start()], {}
        at = piece.end()
        if piece[1] == "thinking":
            yield "thinking", piece[2], {}
        else:
            yield "call", piece[1], _arguments(piece[2])
    yield "text", words[at:], {}


def _arguments(body: str) -> Record:
    given: Record = {}
    for name in ("content", "diff"):
        # What a file holds may hold tags of any kind: it ends with the last closing tag, not with the first.
        begin, end = body.find(f"<{name}>"), body.rfind(f"</{name}>")
        if 0 <= begin < end:
            given[name] = body[begin + len(name) + 2 : end].strip("\n")
            body = body[:begin] + body[end + len(name) + 3 :]
            break
    given |= {name: value.strip() for name, value in _ARGUMENT.findall(body[:_LONGEST])}
    return given
