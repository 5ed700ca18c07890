"""Where tickets and run records lie, and what stands in their files as text.

A folder is read with all folders below it; a glob names files or folders. Nothing outside the project is read, and no
symbolic link is followed. What looks like a ticket or a run record and is not read is reported. The order is that of
the paths.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from backstory.sources.skipped import Skipped, Warned

DEFAULT_PLACES = ("backlog", "tickets", ".tickets", "docs/tickets")
TICKET, RUN = "ticket", "run"
MAX_BYTES = 1 << 20  # the largest ticket of 1,596 in two public trees has 169 kB
STATES = frozenset(
    """abandoned accepted archive archived active backlog blocked cancelled canceled closed complete completed deferred
    doing done draft drafts in-progress in_progress inprogress in-review in_review next now later on-hold open paused
    pending planned ready rejected resolved review someday testing todo to-do triage wip wont-do wont-fix
    wontfix""".split()
)

_NO_TICKETS = {"readme", "agents", "claude", "template", "_template"}
_NO_TICKET_FOLDERS = {"assets", "attachments", "images", "node_modules", "templates", "__pycache__"}
_OTHER_FOLDERS = {"decisions", "docs", "milestones"}  # of a Backlog.md tree
_DEPTH = 32
_NO_TEXT = "no text: it holds a NUL"
_LINK, _FOLDER, _FILE = "link", "folder", "file"
_NO_LINK = "a symbolic link, which is not followed"


@dataclass(frozen=True, slots=True)
class Found:
    """A file by its role. `attempt` is N of `attempts/N/run.md`, `state` the state that its folder stands for."""

    path: str
    role: str
    stem: str
    attempt: int | None = None
    state: str | None = None


Problem = Skipped | Warned


def shown(path: str) -> str:
    """A path as text: U+FFFD for what is not UTF-8 in a name."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def discover(root: str, patterns: Sequence[str] = ()) -> tuple[list[Found], list[Problem]]:
    """Every ticket and run record of the places, each once, by path; and what was left out.

    `patterns` are folders and globs relative to `root` (`*`, `**`, `?`, `[ab]`, `{a,b}`); none means the usual places.
    """
    walk = _Walk(root)
    for pattern in patterns or DEFAULT_PLACES:
        for plain in _without_braces(pattern):
            walk.place(plain, bool(patterns))
    found = sorted(walk.found.values(), key=lambda item: item.path.split("/"))
    return found, sorted(walk.problems, key=lambda item: (item.file, item.line, item.why))


def read_text(root: str, path: str) -> tuple[str, list[Problem]] | Skipped:
    """The text of a file, BOM and all, and what was wrong with its bytes; `Skipped` if it is no text."""
    data = _read_bytes(os.path.join(root, path), MAX_BYTES + 1)
    name = shown(path)
    if isinstance(data, str):
        return Skipped(name, 0, data)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
        return (text, [Warned(name, 0, "UTF-16, not UTF-8")]) if "\0" not in text else Skipped(name, 0, _NO_TEXT)
    if b"\0" in data:
        return Skipped(name, 0, _NO_TEXT)
    try:
        return data.decode(), []
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8", "replace"), [Warned(name, line, "not UTF-8, so marks stand for some characters")]


def read_head(root: str, path: str) -> bytes:
    """The first 1,024 bytes of a file; none if it cannot be read."""
    data = _read_bytes(os.path.join(root, path), 1024)
    return data if isinstance(data, bytes) else b""


def _read_bytes(path: str, limit: int) -> bytes | str:
    """The content up to `limit`, or why there is none."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return "no regular file"
            data = file.read(limit)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    except ValueError:
        return "its name cannot be opened"
    return data if len(data) <= MAX_BYTES else "larger than 1 MiB"


def _without_braces(pattern: str) -> list[str]:
    """`a/{b,c}` as `a/b` and `a/c`; at most 64."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) <= 64:
        text = waiting.pop(0)
        match = re.search(r"\{([^{}]*)\}", text)
        if match:
            waiting += [text[: match.start()] + choice + text[match.end() :] for choice in match[1].split(",")]
        else:
            done.append(text)
    return done


class _Walk:
    """One pass over the places of a project."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.found: dict[str, Found] = {}
        self.problems: set[Problem] = set()
        self.matched = 0
        self.passed: set[tuple[str, tuple[str, ...]]] = set()

    def place(self, pattern: str, asked: bool) -> None:
        """Read one folder or glob."""
        parts = [part for part in pattern.replace("\\", "/").split("/") if part not in ("", ".")]
        if ".." in parts or pattern.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", pattern) or "\0" in pattern:
            self.problems.add(Warned(shown(pattern), 0, "a place outside of the project, which is not read"))
            return
        before = self.matched
        self.match("", tuple(parts))
        if asked and self.matched == before:
            self.problems.add(Warned(shown(pattern), 0, "a place that is not there"))

    def match(self, path: str, parts: tuple[str, ...]) -> None:
        """Follow the parts of a pattern down from a folder."""
        if (path, parts) in self.passed or path.count("/") > _DEPTH:
            self.matched += (path, parts) in self.passed
            return
        self.passed.add((path, parts))
        if not parts:
            self.matched += 1
            self.folder(path, path)
            return
        if parts[0] == "**":
            self.match(path, parts[1:])
        for entry in self.entries(path):
            kind, deeper = _kind(entry), parts[0] == "**"
            if _unlikely(entry.name) if deeper else not fnmatchcase(entry.name, parts[0]):
                continue
            if kind == _FOLDER:
                self.match(_join(path, entry.name), parts if deeper else parts[1:])
            elif kind == _LINK and not deeper:
                self.matched += 1
                self.link(entry, path)
            elif not deeper and len(parts) == 1:
                self.single(entry, path)

    def single(self, entry: os.DirEntry[str], folder: str) -> None:
        """A file that a glob names; its run records may lie in a folder of its name, which the glob does not reach."""
        self.matched += 1
        self.file(entry, folder, "", self.has_ticket(folder))
        name = entry.name.lower()
        if name.endswith(".md"):
            self.runs(folder if name == "ticket.md" else _join(folder, entry.name[:-3]), "")

    def folder(self, path: str, place: str) -> None:
        """Read a folder and all below it."""
        if path.count("/") > _DEPTH:
            self.problems.add(Skipped(shown(path), 0, "nested too deeply"))
            return
        own = path != place and self.has_ticket(path)
        for entry in self.entries(path):
            kind, name = _kind(entry), entry.name.lower()
            if kind == _LINK:
                self.link(entry, path)
            elif kind != _FOLDER:
                self.file(entry, path, place, own)
            elif name == "attempts" and path != place:
                self.runs(path, place)
            elif not _unlikely(name) and not (path == place and name in _OTHER_FOLDERS):
                self.folder(_join(path, entry.name), place)

    def runs(self, path: str, place: str) -> None:
        """The run records in the folder of one ticket."""
        for entry in self.entries(path):
            if entry.name.lower() == "run.md" and _kind(entry) != _LINK:
                self.file(entry, path, place, True)
        for attempt in self.entries(_join(path, "attempts")):
            folder = _join(path, f"attempts/{attempt.name}")
            for entry in self.entries(folder) if attempt.name.isdecimal() and _kind(attempt) == _FOLDER else ():
                if entry.name.lower() != "run.md":
                    continue
                if _kind(entry) == _LINK:
                    self.link(entry, folder)
                else:
                    name = _join(folder, entry.name)
                    self.found.setdefault(name, Found(name, RUN, os.path.basename(path), int(attempt.name[:9])))

    def file(self, entry: os.DirEntry[str], folder: str, place: str, own: bool) -> None:
        """Take a file for what it is. `own` says that it lies in the folder of one ticket."""
        name, path = entry.name.lower(), _join(folder, entry.name)
        if not name.endswith(".md") or name.startswith(".") or path in self.found:
            return
        base, state = os.path.basename(folder), _state(folder, place)
        if name.endswith(".run.md"):
            self.found[path] = Found(path, RUN, entry.name[:-7])
        elif name == "run.md" and folder != place and (own or base.lower() not in STATES):
            self.found[path] = Found(path, RUN, base)
        elif name == "ticket.md" and folder != place:
            self.found[path] = Found(path, TICKET, base, state=state)
        elif name[:-3] in _NO_TICKETS:
            self.problems.add(Skipped(shown(path), 0, "no ticket: it speaks about the folder"))
        elif not own:
            self.found[path] = Found(path, TICKET, entry.name[:-3], state=state)

    def link(self, entry: os.DirEntry[str], folder: str) -> None:
        name = entry.name.lower()
        if not name.startswith(".") and (name.endswith(".md") or _leads_to_folder(entry)):
            self.problems.add(Skipped(shown(_join(folder, entry.name)), 0, _NO_LINK))

    def has_ticket(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.root, path, "ticket.md"))

    def entries(self, path: str) -> Iterator[os.DirEntry[str]]:
        """What a folder holds, by name; nothing for a folder that is not there."""
        full = os.path.join(self.root, path)
        try:
            if path and os.path.islink(full):
                return
            with os.scandir(full) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its name cannot be opened"
            self.problems.add(Skipped(shown(path), 0, f"it cannot be read ({why})"))
            return
        yield from listed


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink():
            return _LINK
        return _FOLDER if entry.is_dir(follow_symlinks=False) else _FILE
    except OSError:
        return _FILE


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # it leads to itself
        return False


def _unlikely(name: str) -> bool:
    """Folders in which nobody keeps tickets; to be read they must be named."""
    return name.startswith(".") or name.lower() in _NO_TICKET_FOLDERS


def _state(folder: str, place: str) -> str | None:
    """The innermost folder that is the name of a state, up to the place itself and no further than `tasks`."""
    above = place.count("/")
    for name in reversed(folder.split("/")[above:]):
        if name.lower() in STATES:
            return name
        if name.lower() in ("tasks", "tickets", "issues"):
            return None
    return None
