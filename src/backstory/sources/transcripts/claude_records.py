"""The records of Claude Code beside messages: which are known, and whose the text is that they carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from backstory.sources.transcripts.claude_tools import call_items, outcome
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import said as as_text
from backstory.sources.transcripts.fields import text
from backstory.sources.transcripts.stream import Facts, Item, Result

Record = dict[str, Any]

# Origin of the text of an attachment; "" where it says nothing that another record or the file itself does not.
ATTACHMENTS: dict[str, str] = {
    **dict.fromkeys(
        "hook_additional_context hook_success hook_blocking_error hook_system_message hook_stopped_continuation "
        "async_hook_response".split(),
        "hook",
    ),
    **dict.fromkeys("nested_memory skill_listing relevant_memories output_style".split(), "instructions"),
    **dict.fromkeys(
        "critical_system_reminder total_tokens_reminder batching_reminder_sent silent_turn_reminder".split(), "reminder"
    ),
    **dict.fromkeys("selected_lines_in_ide opened_file_in_ide".split(), "ide"),
    **dict.fromkeys("edited_text_file".split(), "environment"),
    **dict.fromkeys("teammate_mailbox task_status".split(), "agent"),
    **dict.fromkeys(
        "agent_listing_delta agent_mention already_read_file auto_mode auto_mode_exit budget_usd command_permissions "
        "compact_file_reference compaction_reminder context_efficiency current_session_memory date_change "
        "deferred_tools_delta diagnostics directory dynamic_skill edited_image_file file goal_status hook_cancelled "
        "hook_error_during_execution hook_non_blocking_error hook_permission_decision invoked_skills "
        "max_turns_reached mcp_instructions_delta mcp_resource memory_update new_directory new_file pdf_reference "
        "plan_file_reference plan_mode plan_mode_exit plan_mode_reentry read_truncation_notice skill_discovery "
        "structured_output task_reminder team_context todo todo_reminder token_usage ultra_effort_enter "
        "ultra_effort_exit ultrathink_effort verify_plan_reminder environment model session_context date "
        "remote_session_change prompt_snapshot".split(),
        "",
    ),
}
SYSTEM: dict[str, str] = {
    "local_command": "command",
    "stop_hook_summary": "hook",
    **dict.fromkeys("informational away_summary bridge_status scheduled_task_fire".split(), "other"),
    **dict.fromkeys(
        "agents_killed api_error api_metrics api_refusal error file_snapshot init memory_saved microcompact_boundary "
        "model_refusal_fallback permission_retry session_start thinking turn_duration status".split(),
        "",
    ),
}


def _nothing(_offset: int, _at: int | None, _record: Record) -> Iterator[Item]:
    yield from ()


def _title(offset: int, at: int | None, record: Record) -> Iterator[Item]:
    if title := text(record.get("customTitle")) or text(record.get("aiTitle")):
        yield Facts(offset, at, title=title)


def _relocated(offset: int, at: int | None, record: Record) -> Iterator[Item]:
    if cwd := text(record.get("relocatedCwd")):
        yield Facts(offset, at, cwd=cwd)


def _agent(offset: int, at: int | None, record: Record) -> Iterator[Item]:
    if name := text(record.get("agentName")) or text(record.get("agentSetting")):
        yield Facts(offset, at, agent=name)


def _tool_use(offset: int, at: int | None, record: Record) -> Iterator[Item]:
    yield from call_items(offset, at, {"id": record.get("id", record.get("uuid")), **record})


def _tool_result(offset: int, at: int | None, record: Record) -> Iterator[Item]:
    said = as_text(record.get("output", record.get("content")))
    how, number = outcome(
        text(record.get("name")), record.get("is_error"), said, as_record(record.get("toolUseResult"))
    )
    yield Result(offset, at, text(record.get("tool_use_id")), how, said, number)


# A summary names a message of any session of the folder, so it is no title of this one; `progress` repeats a
# sub-agent's own file; `queue-operation` and `last-prompt` repeat what becomes a user record, and `api-request-blob`
# (2.1.332) all that was sent to the model, as messages of a user.
RECORDS: dict[str, Callable[[int, int | None, Record], Iterator[Item]]] = {
    **dict.fromkeys(
        "summary file-history-snapshot queue-operation progress last-prompt permission-mode mode bridge-session "
        "atis-latch frame-link pr-link started result worktree-state tag saved_hook_context speculation-accept "
        "content-replacement attribution-snapshot marble-origami-commit marble-origami-snapshot task-summary "
        "api-request api-request-blob api-request-shape tools-used cost-state".split(),
        _nothing,
    ),
    "custom-title": _title,
    "ai-title": _title,
    "agent-name": _agent,
    "agent-setting": _agent,
    "relocated": _relocated,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}
