"""What the person saw of a Codex session: `event_msg`, and the items of 0.171 that stand in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from backstory.sources.transcripts.codex_told import EVENT, ITEM, Told
from backstory.sources.transcripts.codex_tools import Given, judged
from backstory.sources.transcripts.fields import Record, exit_code, first, number, text
from backstory.sources.transcripts.fields import record as as_record
from backstory.sources.transcripts.fields import said as as_text
from backstory.sources.transcripts.stream import Compaction, Ended, Interrupt, Item

# Known, and nothing in it that another record does not tell.
_SILENT = frozenset(
    "task_started turn_started thread_settings_applied session_configured agent_reasoning_section_break turn_diff"
    " background_event stream_error warning deprecation_notice mcp_startup_update mcp_startup_complete"
    " exec_command_begin exec_command_output_delta patch_apply_begin web_search_begin mcp_tool_call_begin"
    " exec_approval_request apply_patch_approval_request request_user_input request_permissions elicitation_request"
    " thread_rolled_back undo_started undo_completed thread_name_updated thread_goal_updated entered_review_mode"
    " exited_review_mode sub_agent_activity guardian_assessment image_generation_begin image_generation_end plan_update"
    " plan_delta skills_update_available shutdown_complete terminal_interaction item_started raw_response_item"
    " collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end"
    " collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end"
    " dynamic_tool_call_request hook_started hook_completed model_reroute agent_message_delta agent_reasoning_delta"
    " user_message_delta agent_message_content_delta reasoning_content_delta account/rateLimits/updated".split()
)
_SILENT_ITEMS = frozenset("enteredreviewmode exitedreviewmode imagegeneration hookprompt todolist error".split())


def event_items(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    """The items of an `event_msg`."""
    kind = text(payload.get("type"))
    if kind in _EVENTS:
        yield from _EVENTS[kind](told, offset, at, payload)
    elif kind not in _SILENT:
        yield from told.unknown(offset, at, f"event_msg/{kind}", payload, EVENT)


def _user(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    yield from told.user(offset, at, text(payload.get("message")), "", EVENT, {})


def _answer(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    yield from told.answer(offset, at, text(payload.get("message")), EVENT)


def _thought(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    yield from told.thought(offset, at, text(payload.get("text")), EVENT)


def _spent(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    usage = as_record(as_record(payload.get("info")).get("total_token_usage"))
    now = tuple(number(usage.get(name)) for name in ("input_tokens", "output_tokens", "cached_input_tokens"))
    yield from told.spent(offset, at, (now[0], now[1], now[2]))


def _command(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    """A shell's end: `exec_command_end`, and the item `CommandExecution`."""
    call = first(payload, "call_id", "id")
    tool = "user_shell" if payload.get("source") == "user_shell" else "exec_command"
    yield from told.called(offset, at, call, tool, {"cmd": payload.get("command"), "cwd": payload.get("cwd")})
    parts = (text(payload.get("stdout")).rstrip("\n"), text(payload.get("stderr")))
    said = first(payload, "aggregated_output", "formatted_output") or "\n".join(part for part in parts if part)
    given = judged(said, exit_code(payload.get("exit_code")), None)
    yield from told.ended(offset, at, call, given, EVENT)


def _patch(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    """A patch's end: `patch_apply_end`, and the item `FileChange`."""
    call = first(payload, "call_id", "id")
    yield from told.called(offset, at, call, "apply_patch", {}, changes=payload.get("changes"))
    said = first(payload, "stdout", "stderr")
    flag = payload.get("success", {"completed": True, "failed": False}.get(text(payload.get("status"))))
    yield from told.ended(offset, at, call, judged(said, None, flag), EVENT)


def _mcp(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    """A server's tool: `mcp_tool_call_end`, and the item `McpToolCall`."""
    asked = as_record(payload.get("invocation")) or payload
    call, server = first(payload, "call_id", "id"), text(asked.get("server"))
    tool = f"mcp__{server}__{text(asked.get('tool'))}"
    yield from told.called(offset, at, call, tool, as_record(asked.get("arguments")), server)
    result, failed = as_record(payload.get("result")), payload.get("error")
    if failed or "Err" in result:
        given = Given("error", text(result.get("Err")) or text(failed) or text(as_record(failed).get("message")))
    else:
        done = as_record(result.get("Ok")) or result
        flag = done.get("isError", done.get("is_error"))
        flag = (
            not flag
            if isinstance(flag, bool)
            else "Ok" in result or {"completed": True}.get(text(payload.get("status")))
        )
        given = judged(as_text(done.get("content")), None, flag)
    yield from told.ended(offset, at, call, given, EVENT)


def _search(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    yield from told.called(offset, at, first(payload, "call_id", "id"), "web_search", {"query": payload.get("query")})


def _image(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    yield from told.called(offset, at, first(payload, "call_id", "id"), "view_image", {"path": payload.get("path")})


def _dynamic(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    call, server = text(payload.get("call_id")), text(payload.get("namespace"))
    yield from told.called(offset, at, call, text(payload.get("tool")), as_record(payload.get("arguments")), server)
    given = judged(as_text(payload.get("content_items")), None, payload.get("success"))
    yield from told.ended(offset, at, call, given, EVENT)


def _aborted(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    if payload.get("reason") in ("interrupted", None):
        yield from told.once(Interrupt(offset, at), EVENT)
        yield Ended(offset, at, "interrupted")


def _done(_told: Told, offset: int, at: int | None, _payload: Record) -> Iterator[Item]:
    yield Ended(offset, at, "done")


def _failed(_told: Told, offset: int, at: int | None, _payload: Record) -> Iterator[Item]:
    yield Ended(offset, at, "failed")


def _compacted(told: Told, offset: int, at: int | None, _payload: Record) -> Iterator[Item]:
    yield from told.once(Compaction(offset, at), EVENT)


def _item(told: Told, offset: int, at: int | None, payload: Record) -> Iterator[Item]:
    item = as_record(payload.get("item"))
    # `CommandExecution` here, `command_execution` and `commandExecution` elsewhere.
    kind = text(item.get("type")).replace("_", "").lower()
    if kind == "usermessage":
        yield from told.user(offset, at, as_text(item.get("content")), "", ITEM, {})
    elif kind in ("agentmessage", "plan"):
        yield from told.answer(offset, at, as_text(item.get("content")) or text(item.get("text")), ITEM)
    elif kind == "reasoning":
        summary = item.get("summary_text")
        for said in summary if isinstance(summary, list) else [summary]:
            yield from told.thought(offset, at, text(said), ITEM)
    elif kind == "contextcompaction":
        yield from told.once(Compaction(offset, at), ITEM)
    elif kind in _ITEMS:
        yield from _ITEMS[kind](told, offset, at, item)
    elif kind not in _SILENT_ITEMS:
        yield from told.unknown(offset, at, f"item/{text(item.get('type'))}", item, ITEM)


Tell = Callable[[Told, int, int | None, Record], Iterator[Item]]
_ITEMS: dict[str, Tell] = {
    "commandexecution": _command,
    "filechange": _patch,
    "mcptoolcall": _mcp,
    "websearch": _search,
    "extension": _search,
    "imageview": _image,
}
_EVENTS: dict[str, Tell] = {
    "user_message": _user,
    "agent_message": _answer,
    "agent_reasoning": _thought,
    "agent_reasoning_raw_content": _thought,
    "token_count": _spent,
    "exec_command_end": _command,
    "patch_apply_end": _patch,
    "mcp_tool_call_end": _mcp,
    "web_search_end": _search,
    "view_image_tool_call": _image,
    "dynamic_tool_call_response": _dynamic,
    "turn_aborted": _aborted,
    "task_complete": _done,
    "turn_complete": _done,
    "error": _failed,
    "context_compacted": _compacted,
    "item_completed": _item,
}
