"""Whether what an entry starts is there, and which installation of the tool it belongs to. Nothing is run."""

from __future__ import annotations

import os
import re
import shutil

import backstory
from backstory.project.clients.commands import here
from backstory.project.doctoring.entries import ENTRY, Start, is_hook, is_server

_VERSION = re.compile(r'^__version__ = "([^"]{1,40})"', re.MULTILINE)
# What a client or a person adds to the server's words.
_OPTIONS = frozenset(("--brief", "--role", "read", "write", "--tools", "backstory", "projectmem"))
ON_PATH = "install backstory with pipx or `uv tool install`, so that it is on PATH"


def broken(start: Start) -> str:
    """Why it cannot start, as the end of a sentence; "" when it can."""
    if not start.words:
        return "is a command line that no shell can read"
    if not os.path.isabs(start.program):
        return "" if not not_on_path(start) else f"starts `{start.program}`, which is not on PATH"
    if not os.path.isfile(start.program):
        return f"starts {start.program}, which is gone"
    if not os.access(start.program, os.X_OK):
        return f"starts {start.program}, which cannot be executed"
    if start.entry and not os.path.isfile(start.entry):
        return f"starts {start.entry}, which is gone"
    return ""


def not_on_path(start: Start) -> bool:
    """Whether it is a bare name that PATH does not lead to."""
    return bool(start.words) and not os.path.isabs(start.program) and shutil.which(start.program) is None


def elsewhere(start: Start) -> str:
    """The folder of another installation that it starts, with its version; "" for this one, or when PATH decides."""
    if not start.entry:
        return ""
    folder = os.path.normpath(start.entry.replace("\\", "/")[: -len(ENTRY)] + "backstory")
    if os.path.realpath(folder) == os.path.realpath(os.path.dirname(backstory.__file__)):
        return ""
    return f"{folder} (version {version_in(folder) or 'unknown'})"


def version_in(folder: str) -> str:
    """The version of the package in a folder, "" where it is not said."""
    try:
        with open(os.path.join(folder, "__init__.py"), encoding="utf-8") as file:
            found = _VERSION.search(file.read(10_000))
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""


def may_run(start: Start) -> bool:
    """Whether `doctor` may run it: only our own programs in the form in which they are installed.

    A file of the project may have come with a clone, from whoever wrote it. Of such a file only the very words that
    this installation writes are run.
    """
    if not (is_hook(start.words) or is_server(start.words)):
        return False
    if start.level == "user":
        return True
    client, event = start.words[-2:]
    for commands in (here(committed=True), here(committed=False)):
        wanted = commands.hook_words(client, event) if start.event else commands.mcp()
        more = start.words[len(wanted) :]
        if list(start.words[: len(wanted)]) == wanted and (not more or (not start.event and _OPTIONS.issuperset(more))):
            return True
    return False


def shell_line(start: Start) -> str:
    """The line to hand to a shell, where it is exactly the installed one; "" when the words are run as they are."""
    if os.name != "posix" or not start.line:
        return ""
    import shlex

    return start.line if start.line == shlex.join(start.words) else ""
