"""`backstory-hook <client> <event>`: what the hooks of coding agents call.

Promise to the host: exit 0 whatever happens, within the time budget; on stdout the exact envelope of that client and
event, or nothing at all; anything else on stderr. Started as a file by an isolated interpreter
(`python -I -S entry.py claude-code SessionStart`) it costs about three and a half times the bare interpreter
(`make bench`).
"""

from __future__ import annotations

import gc
import os
import sys
import time

if __name__ == "__main__":
    # Isolated start: the package's own folder is not on the path.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

# By the name that a hook's command line gives: the module that knows its shapes. One is imported, the others are not.
CLIENTS = {
    "claude-code": "claude_code", "codex": "codex", "cursor": "cursor", "gemini": "gemini", "copilot": "copilot",
    "opencode": "opencode", "windsurf": "windsurf", "cline": "cline",
}  # fmt: skip
MAX_STDIN = 8 << 20
# The host kills a hook that hangs; ours ends itself before. The setting `hooks.seconds` bounds the work inside.
HARD_SECONDS = 4.0


class OutOfTime(BaseException):
    """The alarm rang. No `Exception`, so that nothing on the way takes it for a fault of its own."""


def main(argv: list[str] | None = None) -> int:
    """Run one hook; always 0."""
    if argv is None:
        # One short life: collecting what goes with the process anyway costs a millisecond.
        gc.disable()
        bring_sqlite()
    words = sys.argv[1:] if argv is None else argv
    try:
        _alarm()
        handler = _handler(words)
        if handler is None:
            _say(f"no hook {' '.join(words)[:100]!r}; known are: {_known(words[0] if words else '')}")
            return 0
        if argv is None:
            _hurry()
        answer, notices = handler(_stdin(), time.time_ns() // 1000)
        _alarm_off()
        for notice in notices:
            _say(notice)
        if answer:
            os.write(1, answer)
    except OutOfTime:
        _say(f"the hook was ended after {HARD_SECONDS:g} seconds; the session goes on without it")
    except Exception as error:  # noqa: BLE001 (a hook never fails its host)
        _say(f"the memory could not be read ({type(error).__name__}: {error}); run `backstory doctor`")
    except KeyboardInterrupt:
        pass
    return 0


def bring_sqlite() -> None:
    """Import `_sqlite3` without the `functools` that it takes one name from, which costs 3 ms with its own imports.

    That name stands in for the moment, made of what `functools` makes it of; whoever imports `functools` later gets the
    real one. Where the interpreter is another one nothing is done, and the import costs what it costs.
    """
    if "functools" in sys.modules or "_sqlite3" in sys.modules:
        return
    try:
        from _functools import _lru_cache_wrapper as wrapper  # type: ignore[import-not-found]
    except ImportError:
        return
    stand_in: Any = type(sys)("functools")
    stand_in.lru_cache = lambda size: lambda call: wrapper(call, size, False, tuple)
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3

        _sqlite3.connect(":memory:").close()
    except Exception:  # noqa: BLE001 (the import that follows says what is wrong)
        sys.modules.pop("_sqlite3", None)
    finally:
        del sys.modules["functools"]


def _hurry() -> None:
    from backstory.project.session_start import hurry

    hurry()


def _handler(words: list[str]) -> Callable[[bytes, int], tuple[bytes, list[str]]] | None:
    if len(words) != 2:
        return None
    return events_of(words[0]).get(words[1])


def events_of(client: str) -> dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]]:
    """The events of a client by name, with what answers each; empty for one that is not known."""
    if client not in CLIENTS:
        return {}
    found: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]]
    found = __import__(f"backstory.surfaces.hooks.{CLIENTS[client]}", fromlist=["EVENTS"]).EVENTS
    return found


def _known(client: str) -> str:
    """What a person may have meant."""
    events = events_of(client)
    return ", ".join(f"{client} {event}" for event in events) or f"clients {', '.join(CLIENTS)}"


def _stdin() -> bytes:
    """What the host wrote, at most `MAX_STDIN`; the rest is read and dropped, so that the host can finish writing."""
    if os.isatty(0):
        return b""
    parts, size = [], 0
    while chunk := os.read(0, 1 << 16):
        if size < MAX_STDIN:
            parts.append(chunk)
        size += len(chunk)
    return b"".join(parts) if size <= MAX_STDIN else b""


def _alarm() -> None:
    """Ring after `HARD_SECONDS`, where the system can."""
    if sys.platform == "win32":
        return
    # `signal` would import `enum`: 8 ms.
    import _signal  # type: ignore[import-not-found]

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    _signal.signal(_signal.SIGALRM, ring)
    _signal.setitimer(_signal.ITIMER_REAL, HARD_SECONDS)


def _alarm_off() -> None:
    if sys.platform != "win32":
        import _signal

        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _say(text: str) -> None:
    """One line on stderr; a closed stderr is no reason to fail."""
    try:
        os.write(2, f"backstory: {text}\n".encode("utf-8", "replace"))
    except OSError:
        pass


if __name__ == "__main__":
    main()
    # Nothing of ours is left to clean up: skip the interpreter's own teardown.
    os._exit(0)
