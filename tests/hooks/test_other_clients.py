"""The exact envelope of every client and event: what it sends, and the bytes that may go back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from backstory.project.clients.known import CLIENTS as INSTALLED
from backstory.surfaces.hooks import entry
from tests.hooks.session import parsed, run
from tests.hooks.test_claude_code import CACHE, now, refuse, revert
from tests.project.memory import PERSON, Memory

WAL = "Chose WAL over rollback"
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"
Request = dict[str, Any]


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A memory that knows something about `src/a.py`; a project that asks for refusals gets one there."""
    memory.now = now()
    memory.put("src/a.py", "x = 1\n")
    memory.add("decision", WAL, by=PERSON, files=["src/a.py"])
    memory.commit("Keep it")
    with memory.open():
        pass
    return memory


def codex(memory: Memory, event: str, **more: Any) -> Request:
    turn = {} if event == "SessionStart" else {"turn_id": "t-1"}
    base = {"session_id": "c-1", "transcript_path": None, "cwd": str(memory.root), "hook_event_name": event}
    return {**base, "model": "gpt-5.5", "permission_mode": "default", **turn, **more}


def gemini(memory: Memory, event: str, **more: Any) -> Request:
    base = {"session_id": "g-1", "transcript_path": "/t.json", "cwd": str(memory.root), "hook_event_name": event}
    return {**base, "timestamp": "2026-11-30T10:00:00Z", **more}


def cursor(memory: Memory, event: str, **more: Any) -> Request:
    base = {"conversation_id": "u-1", "generation_id": "g", "workspace_roots": [str(memory.root)]}
    return {**base, "hook_event_name": event, "cursor_version": "3.20.17", **more}


def copilot(memory: Memory, event: str, **more: Any) -> Request:
    base = {"timestamp": "2026-11-30T10:00:00Z", "cwd": str(memory.root), "sessionId": "v-1"}
    return {**base, "hookEventName": event, "transcript_path": "/t.json", **more}


def opencode(memory: Memory, event: str, **more: Any) -> Request:
    return {"cwd": str(memory.root), "session_id": "o-1", **more}


def cline(memory: Memory, event: str, **more: Any) -> Request:
    base = {"clineVersion": "3.65", "hookName": event, "timestamp": "1", "taskId": "l-1"}
    return {**base, "workspaceRoots": [str(memory.root)], **more}


def _file(memory: Memory) -> str:
    return str(memory.root / "src/a.py")


# By client and event: what it sends, and the keys around the text that goes to its model.
SPEAKS: dict[tuple[str, str], tuple[Callable[[Memory], Request], tuple[str, ...]]] = {
    ("codex", "SessionStart"): (
        lambda m: codex(m, "SessionStart", source="startup"),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("codex", "UserPromptSubmit"): (
        lambda m: codex(m, "UserPromptSubmit", prompt="Fix src/a.py"),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("codex", "PostToolUse"): (
        lambda m: codex(
            m,
            "PostToolUse",
            tool_name="apply_patch",
            tool_input={"command": PATCH},
            tool_response="Success.",
            tool_use_id="call_1",
        ),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("gemini", "SessionStart"): (
        lambda m: gemini(m, "SessionStart", source="startup"),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("gemini", "BeforeAgent"): (
        lambda m: gemini(m, "BeforeAgent", prompt="Fix src/a.py"),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("gemini", "AfterTool"): (
        lambda m: gemini(
            m,
            "AfterTool",
            tool_name="read_file",
            tool_input={"absolute_path": _file(m)},
            tool_response={"llmContent": "x = 1", "returnDisplay": ""},
        ),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("cursor", "sessionStart"): (lambda m: cursor(m, "sessionStart"), ("additional_context",)),
    ("cursor", "beforeSubmitPrompt"): (
        lambda m: cursor(m, "beforeSubmitPrompt", prompt="Fix src/a.py", attachments=[]),
        ("additional_context",),
    ),
    ("cursor", "postToolUse"): (
        lambda m: cursor(
            m, "postToolUse", tool_name="Read", tool_input={"file_path": _file(m)}, tool_output="{}", tool_use_id="t"
        ),
        ("additional_context",),
    ),
    ("copilot", "SessionStart"): (
        lambda m: copilot(m, "SessionStart", source="new"),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("copilot", "PostToolUse"): (
        lambda m: copilot(
            m, "PostToolUse", tool_name="readFile", tool_input={"filePath": _file(m)}, tool_response="x"
        ),
        ("hookSpecificOutput", "additionalContext"),
    ),
    ("opencode", "experimental.chat.system.transform"): (lambda m: opencode(m, ""), ("context",)),
    ("opencode", "tool.execute.after"): (
        lambda m: opencode(m, "", tool_name="read", tool_input={"filePath": _file(m)}),
        ("context",),
    ),
    ("opencode", "experimental.session.compacting"): (lambda m: opencode(m, ""), ("context",)),
    ("cline", "TaskStart"): (
        lambda m: cline(m, "TaskStart", taskStart={"taskMetadata": {"initialTask": "Fix it"}}),
        ("contextModification",),
    ),
    ("cline", "TaskResume"): (lambda m: cline(m, "TaskResume", taskResume={}), ("contextModification",)),
    ("cline", "UserPromptSubmit"): (
        lambda m: cline(m, "UserPromptSubmit", userPromptSubmit={"prompt": "Fix src/a.py", "attachments": []}),
        ("contextModification",),
    ),
    ("cline", "PostToolUse"): (
        lambda m: cline(
            m,
            "PostToolUse",
            postToolUse={"toolName": "read_file", "parameters": {"path": "src/a.py"}, "result": "x", "success": True},
        ),
        ("contextModification",),
    ),
}  # fmt: skip
# The rest of the envelope, without the text.
AROUND: dict[tuple[str, str], Request] = {
    ("cursor", "beforeSubmitPrompt"): {"continue": True},
    **{place: {"cancel": False, "errorMessage": ""} for place in SPEAKS if place[0] == "cline"},
    **{
        place: {"hookSpecificOutput": {"hookEventName": place[1]}}
        for place, (_, keys) in SPEAKS.items()
        if keys[0] == "hookSpecificOutput"
    },
}
# Before an edit: what is sent, and the whole envelope of a refusal.
REFUSES: dict[tuple[str, str], tuple[Callable[[Memory], Request], Callable[[str], Request]]] = {
    ("codex", "PreToolUse"): (
        lambda m: codex(
            m, "PreToolUse", tool_name="apply_patch", tool_input={"command": PATCH}, tool_use_id="call_1"
        ),
        lambda text: {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": text,
            }
        },
    ),
    ("gemini", "BeforeTool"): (
        lambda m: gemini(
            m,
            "BeforeTool",
            tool_name="replace",
            tool_input={"file_path": _file(m), "old_string": "x = 1", "new_string": "x = 2"},
        ),
        lambda text: {"decision": "deny", "reason": text},
    ),
    ("cursor", "preToolUse"): (
        lambda m: cursor(
            m, "preToolUse", tool_name="Write", tool_input={"file_path": _file(m), "content": "x"}, tool_use_id="t"
        ),
        lambda text: {"permission": "deny", "agent_message": text},
    ),
    ("copilot", "PreToolUse"): (
        lambda m: copilot(
            m,
            "PreToolUse",
            tool_name="replaceString",
            tool_input={"filePath": _file(m), "newString": "x"},
            tool_use_id="t",
        ),
        lambda text: {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": text,
            }
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", SPEAKS, ids=" ".join)
def test_what_there_is_to_say_is_said_in_exactly_this_envelope(told: Memory, place: tuple[str, str]) -> None:
    request, keys = SPEAKS[place]
    envelope = parsed(run(*place, request(told)))
    inner = envelope
    for key in keys[:-1]:
        inner = inner[key]
    text = inner.pop(keys[-1])
    assert WAL in text and text.startswith("<project-memory ")
    assert envelope == AROUND.get(place, {})


@pytest.mark.parametrize("place", SPEAKS, ids=" ".join)
def test_with_nothing_to_say_stdout_is_empty(memory: Memory, place: tuple[str, str]) -> None:
    memory.put("src/a.py", "x = 1\n")
    request = SPEAKS[place][0](memory)
    assert run(*place, request).stdout == b""
    memory.now = now()
    memory.add("decision", WAL, by=PERSON, files=["src/a.py"])
    assert WAL.encode() in run(*place, request).stdout


@pytest.mark.parametrize("place", REFUSES, ids=" ".join)
def test_before_an_edit_stdout_is_empty_or_a_refusal_of_this_shape(told: Memory, place: tuple[str, str]) -> None:
    request, refusal = REFUSES[place]
    assert parsed(run(*place, request(told))) == {}
    refuse(told, "info")
    envelope = parsed(run(*place, request(told)))
    reason = json.dumps(envelope)
    assert WAL in reason
    said = next(text for text in _texts(envelope) if WAL in text)
    assert said.startswith("backstory: ") and envelope == refusal(said)
    assert parsed(run(*place, request(told))) == {}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    return [value] if isinstance(value, str) else []


SILENT: dict[tuple[str, str], Request] = {
    ("codex", "Stop"): {"session_id": "c-1", "stop_hook_active": False, "last_assistant_message": "done"},
    ("codex", "SessionEnd"): {"session_id": "c-1", "reason": "other"},
    ("gemini", "AfterAgent"): {"session_id": "g-1", "prompt": "x", "prompt_response": "y"},
    ("gemini", "PreCompress"): {"session_id": "g-1", "trigger": "auto"},
    ("gemini", "SessionEnd"): {"session_id": "g-1", "reason": "exit"},
    ("cursor", "preCompact"): {"conversation_id": "u-1", "trigger": "auto"},
    ("cursor", "stop"): {"conversation_id": "u-1", "status": "completed"},
    ("cursor", "sessionEnd"): {"conversation_id": "u-1", "reason": "completed"},
    ("copilot", "UserPromptSubmit"): {"sessionId": "v-1", "prompt": "Fix src/a.py"},
    ("copilot", "PreCompact"): {"sessionId": "v-1", "trigger": "auto"},
    ("copilot", "Stop"): {"sessionId": "v-1", "stop_hook_active": False},
    ("windsurf", "pre_write_code"): {"trajectory_id": "w-1", "tool_info": {"edits": [{"new_string": "x"}]}},
    ("windsurf", "post_write_code"): {"trajectory_id": "w-1", "tool_info": {}},
    ("windsurf", "post_cascade_response"): {"trajectory_id": "w-1", "tool_info": {"response": "x"}},
}


@pytest.mark.parametrize("place", SILENT, ids=" ".join)
def test_events_that_take_no_text_get_none(told: Memory, place: tuple[str, str]) -> None:
    request = {**SILENT[place], "cwd": str(told.root), "transcript_path": "/t"}
    done = run(*place, request, cwd=told.root)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_every_event_of_every_client_is_among_those_that_are_tried_here() -> None:
    tried = {*SPEAKS, *REFUSES, *SILENT}
    known = {(client, event) for client in entry.CLIENTS for event in entry.events_of(client)}
    assert {place for place in known if place[0] != "claude-code"} == tried


def test_every_hook_that_is_installed_is_one_that_the_entry_knows() -> None:
    names = {"vscode": "copilot"}
    for client in INSTALLED.values():
        for hook in client.events:
            name = names.get(client.name, client.name)
            assert hook.event in entry.events_of(name), (client.name, hook.event)
    assert entry.events_of("nobody") == {}


# -- Codex's own schemas, as far as we use them

_SAID = {
    "type": "object",
    "additionalProperties": False,
    "required": ["hookEventName"],
    "properties": {"hookEventName": {"type": "string"}, "additionalContext": {"type": "string"}},
}
_DECIDED = {
    "type": "object",
    "additionalProperties": False,
    "required": ["hookEventName"],
    "properties": {
        "hookEventName": {"const": "PreToolUse"},
        "permissionDecision": {"enum": ["allow", "deny", "ask"]},
        "permissionDecisionReason": {"type": "string"},
        "updatedInput": {},
        "additionalContext": {"type": "string"},
    },
}


def _schema(specific: dict[str, Any]) -> dict[str, Any]:
    plain = {"continue": {"type": "boolean"}, "suppressOutput": {"type": "boolean"}}
    texts = {name: {"type": "string"} for name in ("stopReason", "systemMessage", "reason")}
    properties = {**plain, **texts, "decision": {"enum": ["approve", "block"]}, "hookSpecificOutput": specific}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def test_codex_gets_no_property_that_its_schemas_do_not_allow(told: Memory) -> None:
    for place, (request, _) in SPEAKS.items():
        if place[0] == "codex":
            jsonschema.validate(parsed(run(*place, request(told))), _schema(_SAID))
    refuse(told, "info")
    refusal = parsed(run("codex", "PreToolUse", REFUSES["codex", "PreToolUse"][0](told)))
    jsonschema.validate(refusal, _schema(_DECIDED))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**refusal, "extra": 1}, _schema(_DECIDED))


# -- what only one of them does


def test_codex_is_given_the_same_brief_once_per_session(told: Memory) -> None:
    def start(source: str) -> bytes:
        return run("codex", "SessionStart", codex(told, "SessionStart", source=source)).stdout

    assert WAL.encode() in start("startup")
    assert start("resume") == b""
    assert WAL.encode() in start("compact")
    assert start("resume") == b""
    told.now = now() + 30_000_000
    told.add("decision", "Ship weekly", by=PERSON)
    assert b"Ship weekly" in start("resume")


def test_codex_reads_through_the_shell(told: Memory) -> None:
    def shell(command: str, session: str = "c-1") -> bytes:
        given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": "x", "session_id": session}
        return run("codex", "PostToolUse", codex(told, "PostToolUse", **given)).stdout

    assert shell("ls -la && git status") == b""
    assert WAL.encode() in shell("sed -n '1,80p' src/a.py")
    assert shell("cat src/a.py") == b""
    assert WAL.encode() in shell(f"cd src; apply_patch <<'EOF'\n{PATCH}\nEOF", "c-2")


def test_a_patch_of_several_files_is_noted_with_both_names_of_a_move(told: Memory) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-x = 1\n+x = 2\n"
        "*** Add File: src/c.py\n+*** Update File: src/no.py\n*** Delete File: src/d.py\n*** End Patch"
    )
    given = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    run("codex", "PreToolUse", codex(told, "PreToolUse", **given))
    noted = (told.root / ".git/backstory/sessions/c-1.txt").read_text(encoding="utf-8").splitlines()
    assert noted == [f"edit\tsrc/{name}.py" for name in "abcd"]


def test_gemini_notes_a_tool_that_failed(told: Memory) -> None:
    given = {
        "tool_name": "run_shell_command",
        "tool_input": {"command": "make lemonade"},
        "tool_response": {"llmContent": "x", "error": {"message": "exit 2", "type": "shell_error"}},
    }
    assert run("gemini", "AfterTool", gemini(told, "AfterTool", **given)).stdout == b""
    noted = (told.root / ".git/backstory/sessions/g-1.txt").read_text(encoding="utf-8")
    assert "run_shell_command: make lemonade — exit 2" in noted


def test_windsurf_notes_a_write_and_tells_the_person_what_speaks_against_it(told: Memory, tmp_path: Path) -> None:
    info = {"file_path": _file(told), "edits": [{"old_string": "x = 1", "new_string": "x = 2"}]}
    request = {"agent_action_name": "pre_write_code", "trajectory_id": "w-1", "tool_info": info}
    done = run("windsurf", "pre_write_code", request, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    noted = told.root / ".git/backstory/sessions/w-1.txt"
    assert noted.read_text(encoding="utf-8") == "edit\tsrc/a.py\n"
    refuse(told, "info")
    done = run("windsurf", "pre_write_code", request, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"") and WAL in done.stderr.decode()


CONTENT = {"file_path": "{path}", "content": "{text}"}
CAMEL = {"filePath": "{path}", "content": "{text}"}


@pytest.mark.parametrize(
    ("client", "event", "fields"),
    [
        (
            "codex",
            "PostToolUse",
            {"tool_name": "apply_patch", "tool_input": {"command": "*** Update File: src/cache.py\n@@\n{added}"}},
        ),
        ("gemini", "AfterTool", {"tool_name": "write_file", "tool_input": CONTENT}),
        ("cursor", "postToolUse", {"tool_name": "Write", "tool_input": CONTENT}),
        ("copilot", "PostToolUse", {"tool_name": "createFile", "tool_input": CAMEL}),
        ("opencode", "tool.execute.after", {"tool_name": "write", "tool_input": CAMEL}),
        (
            "cline",
            "PostToolUse",
            {"postToolUse": {"toolName": "write_to_file", "parameters": {"path": "{path}", "content": "{text}"}}},
        ),
    ],
)  # fmt: skip
def test_an_edit_that_brings_a_reverted_commit_back_is_told_so(
    memory: Memory, client: str, event: str, fields: Request
) -> None:
    memory.now = now()
    revert(memory)
    base = {
        "codex": codex,
        "gemini": gemini,
        "cursor": cursor,
        "copilot": copilot,
        "opencode": opencode,
        "cline": cline,
    }
    added = "".join(f"+{line}\n" for line in CACHE.splitlines())
    values = {"{path}": str(memory.root / "src/cache.py"), "{text}": CACHE, "{added}": added}
    request = base[client](memory, event, **_filled(fields, values))
    assert b"This was tried before" in run(client, event, request).stdout
    assert run(client, event, request).stdout == b""


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(inner, values) for name, inner in value.items()}
    for name, text in values.items():
        value = value.replace(name, text)
    return value
