"""The envelope that Claude Code, Codex, Gemini CLI and VS Code take alike: `hookSpecificOutput`. Light.

Each function gives (stdout, notices for stderr); nothing on stdout where there is nothing to say.
"""

from __future__ import annotations

from backstory.surfaces.hooks.payload import envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.surfaces.hooks.events import Answer

Reply = tuple[bytes, list[str]]


def context(event: str, answer: Answer) -> Reply:
    """The text for the model."""
    if not answer.text:
        return b"", answer.notices
    said = {"hookEventName": event, "additionalContext": answer.text}
    return envelope(hookSpecificOutput=said), answer.notices


def denial(answer: Answer) -> Reply:
    """A refusal of the tool call, where there is one."""
    if not answer.refusal:
        return b"", answer.notices
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason(answer),
    }
    return envelope(hookSpecificOutput=decision), answer.notices


def reason(answer: Answer) -> str:
    """Why a call is refused, in the words of every client."""
    return f"backstory: {answer.refusal}\nThe same edit is not refused again."
