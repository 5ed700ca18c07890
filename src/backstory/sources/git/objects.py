"""What a repository says about any number of names, by one process and without ever fetching."""

from __future__ import annotations

from backstory.sources.git.run import GitResult, git


def resolve(root: str, names: list[str]) -> tuple[list[tuple[str, str] | None], GitResult]:
    """For each name its full id and type, or None if it is missing here or ambiguous; and how git ended.

    If git cannot read the repository, the list is shorter than `names`. A name is anything that
    `git cat-file` takes; one with a line break is missing.
    """
    found: list[tuple[str, str] | None] = []
    while True:
        rest = names[len(found) :]
        asked = "".join(f"{' ' if _breaks(name) else name}\n" for name in rest)
        result = git(["cat-file", "--batch-check"], root, stdin=asked.encode("utf-8", "surrogateescape"))
        found += [_answer(line) for line in result.out.splitlines()]
        if result.code == 0 or b"promisor" not in result.err or len(found) >= len(names):
            return found, result
        # A partial clone lacks this object, knows that it exists, and git gave up instead of fetching it.
        found.append(None)


def _breaks(name: str) -> bool:
    return "\n" in name or "\r" in name or "\0" in name


def _answer(line: bytes) -> tuple[str, str] | None:
    """`<id> <type> <size>`, or a line that ends in `missing` or `ambiguous`."""
    words = line.split(b" ")
    if len(words) == 3 and words[2].isdigit():
        return words[0].decode("ascii"), words[1].decode("ascii")
    return None
