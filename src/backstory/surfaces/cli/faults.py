"""The one place that turns an error into words, a hint and an exit code."""

from __future__ import annotations

import os
from typing import Any

import click

from backstory.errors import BackstoryError, Exit
from backstory.project.fault_reports import keep_traceback
from backstory.surfaces.cli.console import clean, let_go, tell

INTERRUPTED = 130


def report(error: BaseException, as_json: bool) -> int:
    """Say what went wrong, on stderr, and return the exit code. `SystemExit` passes through."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough: no error of ours.
        let_go()
        return Exit.OK
    if isinstance(error, KeyboardInterrupt | EOFError | click.Abort):
        tell("backstory: interrupted")
        return INTERRUPTED
    if os.environ.get("BACKSTORY_DEBUG") == "1" and not isinstance(error, BackstoryError | click.ClickException):
        raise error
    message, hint, code = _words(error)
    _say(message, hint, code, as_json)
    return code


def _words(error: BaseException) -> tuple[str, str, int]:
    if isinstance(error, BackstoryError):
        return error.message, error.hint, error.code
    if isinstance(error, click.UsageError):
        name = error.ctx.command_path if error.ctx else "backstory"
        return _sentence(error.format_message()), f"`{name} --help` shows how it is used.", Exit.USAGE
    if isinstance(error, click.ClickException):
        return _sentence(error.format_message()), "", Exit.USAGE
    place = keep_traceback(error)
    kept = f"; the traceback is in {place}" if place else ""
    hint = "Please report it with that file; `backstory doctor` checks the memory itself."
    return f"This is a fault of backstory ({type(error).__name__}){kept}.", hint, Exit.FAULT


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _say(message: str, hint: str, code: int, as_json: bool) -> None:
    if as_json:
        body: dict[str, Any] = {"error": {"message": clean(message), "hint": clean(hint), "code": code}}
        import json

        tell(json.dumps(body, ensure_ascii=False))
        return
    tell(f"backstory: {clean(message)}")
    if hint:
        tell(f"  {clean(hint)}")
