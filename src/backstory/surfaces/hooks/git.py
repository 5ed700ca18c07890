"""`python -I -S git.py [--block] NAME [ARGUMENT ...]`: what the launcher of a clone's git hooks starts.

Promise to git: exit 0 whatever happens, within the time limit, nothing on stdout; one exit code more, `BLOCKED`, with
`--block` and a finding at block level. It stands beside the entry of the agents' hooks and not in it: git passes
arguments, wants an exit code, and may sit in a database call that no signal handler interrupts.
"""

from __future__ import annotations

import os
import sys
import time

if __name__ == "__main__":
    # Isolated start: the package's own folder is not on the path.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from backstory.project.git_hooks.scripts import BLOCKED, HOOKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# A commit runs two of them, and is to be through in two seconds.
SECONDS = {"pre-commit": 1.0}
OTHERS_SECONDS = 0.7
# How long what the alarm interrupts may take to clean up.
_GRACE = 0.1
_MAX_STDIN = 8 << 20


class OutOfTime(BaseException):
    """The alarm rang. No `Exception`, so that nothing on the way takes it for a fault of its own."""


def main(words: list[str]) -> int:
    """Run one hook; 0, or `BLOCKED`."""
    block = words[:1] == ["--block"]
    name, args = "".join(words[block : block + 1]), words[block + 1 :]
    if name not in HOOKS:
        _say(f"no git hook {name[:100]!r}; known are: {', '.join(HOOKS)}")
        return 0
    watch = _Watch(name)
    try:
        watch.start()
        return _run(watch, args, block)
    except OutOfTime:
        _say(watch.late)
    except Exception as error:  # noqa: BLE001 (a hook never fails its host)
        _say(f"the memory could not be read ({type(error).__name__}: {error}); run `backstory doctor`")
    except KeyboardInterrupt:
        pass
    finally:
        watch.stop()
    return 0


def _run(watch: _Watch, args: list[str], block: bool) -> int:
    from backstory.project.git_hooks import running

    name = watch.name
    try:
        ran = running.run(name, args, _stdin() if name == "post-rewrite" else b"", os.getcwd(), block=block)
    except running.Busy:
        if name == "pre-commit":
            _say("not checked: another process is writing the index")
        return 0
    watch.stop()
    for notice in ran.notices:
        _say(notice)
    if ran.blocked:
        _say("the commit was stopped; `git commit --no-verify` makes it all the same")
    return BLOCKED if ran.blocked else 0


def _stdin() -> bytes:
    """What git wrote, at most `_MAX_STDIN`; the rest is read and dropped, so that git can finish writing."""
    if os.isatty(0):
        return b""
    parts, size = [], 0
    while chunk := os.read(0, 1 << 16):
        if size < _MAX_STDIN:
            parts.append(chunk)
        size += len(chunk)
    return b"".join(parts)


class _Watch:
    """Ends a hook in time: first by an alarm, so that what runs can end its children, a little later in any case.

    A signal handler waits until a call into SQLite returns, which may take ten seconds; a thread does not.
    """

    def __init__(self, name: str) -> None:
        self.name, self.over = name, False
        self.seconds = SECONDS.get(name, OTHERS_SECONDS)
        # Of the others nobody misses anything: the next command does what is left.
        self.late = "not checked: time ran out" if name == "pre-commit" else ""

    def start(self) -> None:
        import _thread

        _thread.start_new_thread(self._end, ())
        if sys.platform == "win32":
            return
        # `signal` would import `enum`: 8 ms.
        import _signal  # type: ignore[import-not-found]

        def ring(number: int, frame: FrameType | None) -> None:
            raise OutOfTime

        _signal.signal(_signal.SIGALRM, ring)
        _signal.setitimer(_signal.ITIMER_REAL, self.seconds)

    def stop(self) -> None:
        self.over = True
        if sys.platform != "win32":
            import _signal

            _signal.setitimer(_signal.ITIMER_REAL, 0)

    def _end(self) -> None:
        time.sleep(self.seconds + _GRACE)
        if not self.over:
            _say(self.late)
            os._exit(0)


def _say(text: str) -> None:
    """One line on stderr, if there is something to say; a closed stderr is no reason to fail."""
    if not text:
        return
    try:
        os.write(2, f"backstory: {text}\n".encode("utf-8", "replace"))
    except OSError:
        pass


if __name__ == "__main__":
    code = main(sys.argv[1:])
    # Nothing of ours is left to clean up: skip the interpreter's own teardown.
    os._exit(code)
