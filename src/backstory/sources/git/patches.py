"""What commits added and removed, line by line: one git process for any number of them, in bounded memory."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator

from backstory.sources.git.run import command, environment

_DIFF = [
    "diff-tree", "--stdin", "-r", "-p", "-U0", "-M", "--root", "--no-color", "--no-ext-diff", "--no-textconv",
    "--ignore-submodules=all", "--diff-merges=off", "-l1000",
]  # fmt: skip
# Lines of one commit; a vendored tree of a million lines says nothing about what was tried.
MOST_LINES = 20_000
_LONGEST = 2_000


def patches(root: str, shas: Iterable[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """(id, added lines, removed lines) of each commit that the repository has, in the order of `shas`.

    Merges have none. Nothing for a commit that is not here; where git breaks off, what came before it.
    """
    asked = sorted(set(shas))
    if not asked:
        return
    with tempfile.TemporaryFile() as wanted:
        wanted.write("".join(f"{sha}\n" for sha in asked).encode("ascii"))
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
            return
        try:
            yield from _split(process.stdout or (), frozenset(asked))
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
