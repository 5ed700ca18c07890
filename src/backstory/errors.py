"""The one root of expected errors, and the exit codes they end in.

Lower layers raise `BackstoryError` (or a subclass) with a cause; one function of the surfaces turns it
into words, a hint and an exit code. Imports nothing of the package.
"""


class Exit:
    """Exit codes of the command line. Plain numbers: importing `enum` would cost a hook 8 ms."""

    OK = 0
    FINDINGS = 1  # the check found something at or above the level
    USAGE = 2
    NO_PROJECT = 3
    REFUSED = 4  # by policy
    DAMAGED = 5  # the log
    FAULT = 70  # ours


class BackstoryError(Exception):
    """An expected failure: what is wrong in one full sentence, and the next step that helps."""

    def __init__(self, message: str, *, hint: str = "", code: int = Exit.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
