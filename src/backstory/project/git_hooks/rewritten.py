"""Which commit a rewritten one became: what `post-rewrite` was told, kept beside the index.

A line is `<old id> <new id>`; the file only grows until it holds more than `MOST` lines, then the oldest go. It is
derived: without it, an entry cites a commit that a rebase has replaced and nobody can say by which. Light: standard
library only.
"""

from __future__ import annotations

import os

NAME = "rewritten.txt"
MOST = 10_000
# A quarter more than that many pairs of SHA-1 ids; only then the lines are counted.
_COUNT_FROM = MOST * 82


def keep(derived_dir: str, stdin: bytes) -> int:
    """Keep the pairs that git wrote to a `post-rewrite` hook; how many there were."""
    pairs = [pair for line in stdin.decode("ascii", "replace").splitlines() if (pair := _pair(line))]
    if not pairs:
        return 0
    path = os.path.join(derived_dir, NAME)
    os.makedirs(derived_dir, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, "".join(f"{old} {new}\n" for old, new in pairs[-MOST:]).encode("ascii"))
        size = os.fstat(handle).st_size
    finally:
        os.close(handle)
    if size > _COUNT_FROM:
        _shorten(path)
    return len(pairs)


def pairs(derived_dir: str) -> dict[str, str]:
    """Each commit that was rewritten, and what it became last; empty where nothing was kept."""
    became = _read(derived_dir)
    return {old: _last(became, old) for old in became}


def rewritten(derived_dir: str, sha: str) -> str:
    """What the commit `sha` (a whole id, or at least 7 digits that only one has) became last; itself if unknown."""
    became = _read(derived_dir)
    if sha not in became and len(sha) >= 7:
        meant = [old for old in became if old.startswith(sha)]
        sha = meant[0] if len(meant) == 1 else sha
    return _last(became, sha)


def _read(derived_dir: str) -> dict[str, str]:
    try:
        with open(os.path.join(derived_dir, NAME), encoding="ascii", errors="replace") as file:
            return dict(pair for line in file if (pair := _pair(line)))
    except OSError:
        return {}


def _last(became: dict[str, str], sha: str) -> str:
    seen = {sha}
    while (new := became.get(sha, sha)) not in seen:
        seen.add(new)
        sha = new
    return sha


def _pair(line: str) -> tuple[str, str] | None:
    words = line.split()
    if len(words) < 2 or not all(_is_id(word) for word in words[:2]) or words[0] == words[1]:
        return None
    return words[0], words[1]


def _is_id(word: str) -> bool:
    return len(word) in (40, 64) and not word.strip("0123456789abcdef")


def _shorten(path: str) -> None:
    with open(path, "rb") as file:
        lines = file.readlines()
    if len(lines) <= MOST:
        return
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.writelines(lines[-MOST:])
    os.replace(temporary, path)
