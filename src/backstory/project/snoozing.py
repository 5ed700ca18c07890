"""Snoozed warnings: personal, kept in the user's state folder, where nobody else reads them. Light: a hook imports it.

Promise: append-only, one line for each time somebody snoozed or took it back; what is snoozed is still counted and
said in one line; another person of the same machine, by the name that git knows, is not silenced.
"""

from __future__ import annotations

import os

from backstory.config import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FIELDS = 5
_LONGEST = 1_000


class Snooze:
    """One of them: `target` is an entry's id or a path, `until` an instant in microseconds, 0 to take it back."""

    __slots__ = ("at", "by", "target", "until", "why")

    def __init__(self, target: str, until: int, at: int, by: str, why: str) -> None:
        self.target, self.until, self.at, self.by, self.why = target, until, at, by, why

    def covers(self, id_: str, paths: Sequence[str]) -> bool:
        """Whether it is about this entry, or about every file that the finding is about."""
        return self.target == id_ or (bool(paths) and all(map(self._holds, paths)))

    def _holds(self, path: str) -> bool:
        return path == self.target or (self.target.endswith("/") and path.startswith(self.target))


def place(project: str) -> str:
    """The file of a project, by its id."""
    name = "".join(letter for letter in project if letter.isalnum() or letter in "-_")[:64]
    return os.path.join(state_dir(), "snoozes", f"{name or 'project'}.tsv")


def active(project: str, now: int) -> list[Snooze]:
    """What is snoozed at `now`, the last word on each target and person; nothing where the file cannot be read."""
    try:
        with open(place(project), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    last: dict[tuple[str, str], Snooze] = {}
    for line in lines:
        fields = line.split("\t")
        if len(fields) == _FIELDS and fields[0].isdigit() and fields[1].isdigit():
            found = Snooze(fields[2], int(fields[0]), int(fields[1]), fields[3], fields[4])
            last[(found.target, found.by)] = found
    return [found for found in last.values() if found.until > now]


def keep(project: str, snooze: Snooze) -> None:
    """Append one. `OSError` where the state folder cannot be written."""
    path = place(project)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    texts = [" ".join(text.split())[:_LONGEST] for text in (snooze.target, snooze.by, snooze.why)]
    line = f"{snooze.until}\t{snooze.at}\t{texts[0]}\t{texts[1]}\t{texts[2]}\n".encode("utf-8", "replace")
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # A line that a crash cut short ends here.
        os.write(file, b"\n" + line if _torn(path) else line)
    finally:
        os.close(file)


def _torn(path: str) -> bool:
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
