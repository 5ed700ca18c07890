"""What is about to change: the staged files, the work tree, a diff that somebody hands over, or named paths.

Paths with both names of a rename, and the hashes of the lines that are added. git is asked twice at most.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from backstory.errors import BackstoryError, Exit
from backstory.records.likeness import line_hashes
from backstory.sources.git.run import git

# What is read of a diff: a change of more lines than that is no second attempt at anything.
_MOST_BYTES = 64 << 20
_SECONDS = 20.0
_QUIET = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=all", "-l1000"]
_HEADER = re.compile(r"^(?:\+\+\+|---) (?:[abciow]/)?(.+?)(?:\t.*)?$")
_RENAME = re.compile(r"^(?:rename|copy) (?:from|to) (.+)$")
_QUOTED = re.compile(r'^"(?:[abciow]/)?(.*)"$')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\", b"a": b"\a", b"b": b"\b", b"f": b"\f"}


class Changes(NamedTuple):
    """Paths relative to the top, and hashes of the added lines."""

    paths: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()


def staged(root: str) -> Changes:
    """What `git commit` would take; inside a hook of git, of the index that it prepared for that commit."""
    if not os.environ.get("GIT_INDEX_FILE"):
        return _asked(root, ["--cached"])
    from backstory.project.git_hooks.staged import staged_patch, staged_paths

    return Changes(tuple(staged_paths(root) or ()), of_diff(staged_patch(root)).lines)


def working(root: str) -> Changes:
    """All that differs from HEAD, staged or not; a file that git does not track yet is named without its lines."""
    known = git(["rev-parse", "-q", "--verify", "HEAD"], root, timeout=_SECONDS).code == 0
    found = _asked(root, ["HEAD"] if known else [])
    others = git(["ls-files", "-z", "--others", "--exclude-standard"], root, timeout=_SECONDS, limit=_MOST_BYTES)
    new = [path for path in others.out.decode("utf-8", "surrogateescape").split("\0") if path]
    return Changes(tuple(dict.fromkeys([*found.paths, *new])), found.lines)


def since(root: str, base: str) -> Changes:
    """What a branch changes: all between the place where it left `base` and HEAD."""
    revision = base if base and not base.startswith("-") else ""
    if git(["rev-parse", "-q", "--verify", "--end-of-options", f"{revision}^{{commit}}"], root).code != 0:
        raise BackstoryError(
            f"git knows no commit {base[:100]!r} here.",
            hint="Fetch it first; in CI, check out with the whole history (`fetch-depth: 0`).",
        )
    return _asked(root, [f"{revision}...HEAD"])


def of_diff(text: str) -> Changes:
    """What a unified diff says, of git or of `diff -u`."""
    paths: dict[str, None] = {}
    added: list[str] = []
    left = new = 0
    for line in text.splitlines():
        if left or new:
            left -= line[:1] in ("-", " ", "")
            new -= line[:1] in ("+", " ", "")
            if line[:1] == "+":
                added.append(line[1:])
        elif line.startswith("@@ "):
            left, new = _counts(line)
        elif found := _HEADER.match(line) or _RENAME.match(line):
            path = _plain(found[1])
            if path != "/dev/null":
                paths[path] = None
    return Changes(tuple(paths), line_hashes(added))


def of_given_diff(text: str) -> Changes:
    """The same of what a person named as a diff; `BackstoryError` for words in which there is none."""
    found = of_diff(text)
    if text.strip() and not found.paths and "diff --git " not in text:
        raise BackstoryError(
            "What --diff was given names no file: it is no unified diff.",
            hint="Make one with `git diff > change.diff`, or use --working or --staged.",
            code=Exit.USAGE,
        )
    return found


def _counts(header: str) -> tuple[int, int]:
    """How many lines of either side follow the head of a hunk."""
    found = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", header)
    return (int(found[1] or 1), int(found[2] or 1)) if found else (0, 0)


def _plain(path: str) -> str:
    """A path without git's quotes and escapes."""
    quoted = _QUOTED.match(path)
    if not quoted:
        return path
    raw = _ESCAPE.sub(_unescaped, quoted[1].encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _LETTERS.get(code, code)


def _asked(root: str, what: list[str]) -> Changes:
    names = git(["diff", *what, *_QUIET, "--name-status", "-z", "-M"], root, timeout=_SECONDS, limit=_MOST_BYTES)
    if names.code != 0:
        said = names.err.decode("utf-8", "replace").strip().splitlines()
        raise BackstoryError(
            f"git could not say what changed: {said[-1][:200] if said else f'exit code {names.code}'}",
            hint="Run the command inside a git work tree, or name the paths.",
        )
    paths = [field for field in names.out.decode("utf-8", "surrogateescape").split("\0") if field]
    patch = git(["diff", *what, *_QUIET, "-U0", "-M"], root, timeout=_SECONDS, limit=_MOST_BYTES)
    text = patch.out.decode("utf-8", "replace")
    return Changes(tuple(dict.fromkeys(_without_states(paths))), of_diff(text).lines)


def _without_states(fields: list[str]) -> list[str]:
    """The paths of `--name-status -z`: a state, then one path, or two for a rename or copy."""
    paths, place = [], 0
    while place < len(fields):
        count = 2 if fields[place][:1] in ("R", "C") else 1
        paths += fields[place + 1 : place + 1 + count]
        place += 1 + count
    return paths
