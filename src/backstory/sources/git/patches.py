"""What commits added and removed, line by line: one git process for any number of them, in bounded memory."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence

from backstory.sources.git.run import command, environment

_DIFF = [
    "diff-tree", "--stdin", "-r", "-p", "-U0", "-M", "--root", "--no-color", "--no-ext-diff", "--no-textconv",
    "--ignore-submodules=all", "--diff-merges=off", "-l1000",
]  # fmt: skip
# Lines of one commit; a vendored tree of a million lines says nothing about what was tried.
MOST_LINES = 20_000
_LONGEST = 2_000
# Commits that lack a content, after each of which git is started again.
_MOST_STARTS = 500


def patches(root: str, shas: Iterable[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """(id, added lines, removed lines) of each commit that the repository has, in the order of their ids.

    Merges have none. Nothing for a commit that is not here. One that lacks a content (a partial or damaged clone) has
    the lines before it; git ends there, and is started again for those after it, so many times.
    """
    left = sorted(set(shas))
    for _ in range(_MOST_STARTS):
        if not left:
            return
        last = yield from _one_run(root, left)
        if last is None:
            return
        left = left[left.index(last) + 1 if last else 1 :]


def _one_run(root: str, shas: Sequence[str]) -> Generator[tuple[str, list[str], list[str]], None, str | None]:
    """What git says until it ends; the answer is None, or where it gave up the id that was read last, "" for none."""
    last = ""
    with tempfile.TemporaryFile() as wanted:
        wanted.write("".join(f"{sha}\n" for sha in shas).encode("ascii"))
        wanted.seek(0)
        try:
            process = subprocess.Popen(
                command(_DIFF, root),
                env=environment(),
                stdin=wanted,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None
        try:
            for found in _split(process.stdout or (), frozenset(shas)):
                last = found[0]
                yield found
            return None if process.wait() == 0 else last
        finally:
            process.kill()
            process.communicate()


def _split(lines: Iterable[bytes], asked: frozenset[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    sha, added, removed, inside = "", list[str](), list[str](), False
    for raw in lines:
        first = raw[:1]
        if first in b"+-" and inside:
            kept = added if first == b"+" else removed
            if len(kept) < MOST_LINES:
                kept.append(raw[1:_LONGEST].decode("utf-8", "replace").rstrip("\r\n"))
        elif first == b"@":
            inside = True
        elif first != b"\\":
            inside = False
            name = raw.rstrip(b"\n").decode("ascii", "replace")
            if name in asked:
                if sha:
                    yield sha, added, removed
                sha, added, removed = name, [], []
    if sha:
        yield sha, added, removed
