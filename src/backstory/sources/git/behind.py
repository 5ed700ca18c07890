"""The commits behind a file, or behind one line of it."""

from __future__ import annotations

from dataclasses import dataclass

from backstory.sources.git.run import git

SECONDS = 5.0
_FORMAT = "%H%x00%ct%x00%s"


@dataclass(frozen=True, slots=True)
class Behind:
    """A commit: its id, when it was made (seconds since the epoch, UTC) and its title."""

    sha: str
    time: int
    subject: str


def of_file(root: str, path: str, most: int) -> list[Behind]:
    """The last commits that touched a file or folder, the newest first; none where git cannot tell."""
    arguments = ["log", f"--max-count={most}", f"--format={_FORMAT}", "-z", "HEAD", "--", path or "."]
    result = git(arguments, root, timeout=SECONDS)
    if result.code != 0:
        return []
    fields = result.out.decode("utf-8", "replace").rstrip("\0").split("\0")
    return [Behind(*_typed(fields[at : at + 3])) for at in range(0, len(fields) - 2, 3)]


def of_line(root: str, path: str, line: int) -> Behind | None:
    """The commit that a line comes from; None for one that is not committed, or that is not there."""
    result = git(["blame", "--porcelain", "-L", f"{line},{line}", "--", path], root, timeout=SECONDS)
    if result.code != 0:
        return None
    lines = result.out.decode("utf-8", "replace").split("\n")
    sha = lines[0].partition(" ")[0]
    told = dict(text.split(" ", 1) for text in lines[1:] if " " in text and not text.startswith("\t"))
    if not sha.strip("0"):
        return None
    return Behind(sha, int(told.get("committer-time", "0")), told.get("summary", ""))


def _typed(fields: list[str]) -> tuple[str, int, str]:
    sha, time, subject = fields
    return sha, int(time or 0), subject
