"""What is about to be committed: the paths and the patch, from the index that git hands to its hook.

`git commit -a` and `git commit PATH` prepare an index of their own, which only `GIT_INDEX_FILE` names. Every other
reader of ours drops that variable, since the folder shall decide; here it is the question.
"""

from __future__ import annotations

import os
import subprocess

from backstory.sources.git.run import command, environment

# What is looked at of a larger patch: reading and comparing more would not fit the time of a hook.
PATCH_BYTES = 2 << 20
_INDEX = "GIT_INDEX_FILE"


def staged_paths(root: str) -> list[str] | None:
    """The paths that differ from HEAD in the index, both names of a renamed one; None where git cannot say."""
    out = _diff(root, ["--name-status", "-z", "-M"])
    if out is None:
        return None
    words = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    found = set()
    for status in words:
        for _ in range(2 if status[:1] in ("R", "C") else 1 if status else 0):
            found.add(next(words, ""))
    return sorted(found - {""})


def staged_patch(root: str) -> str:
    """The patch, cut at `PATCH_BYTES`; "" where git cannot say."""
    out = _diff(root, ["--no-color", "--no-ext-diff", "--no-textconv"])
    return (out or b"").decode("utf-8", "replace")


def _diff(root: str, options: list[str]) -> bytes | None:
    """At most `PATCH_BYTES` of what git says. It has no time limit of its own: the hook around it has, and this
    process ends its child on the way out.
    """
    env = environment()
    if os.environ.get(_INDEX):
        # It may be relative to where git started the hook, which is here.
        env[_INDEX] = os.path.abspath(os.environ[_INDEX])
    try:
        process = subprocess.Popen(
            command(["diff", "--cached", *options], root), env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None
    assert process.stdout is not None
    try:
        found = process.stdout.read(PATCH_BYTES)
        cut = len(found) == PATCH_BYTES
        return found if cut or process.wait() == 0 else None
    finally:
        process.stdout.close()
        process.kill()
        process.wait()
