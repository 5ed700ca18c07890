"""Where HEAD is, read from the git dir without a process wherever that is possible.

`git_dir` is the work tree's own git dir, `common_dir` the one that all work trees of the clone share.
Light: it lies on the hook path.
"""

from __future__ import annotations

import os

_REF = "ref: "
_BRANCHES = "refs/heads/"
# In a repository with the reftable format HEAD is a stub that names this branch.
_REFTABLE_STUB = "refs/heads/.invalid"
# Refs that each work tree has for itself.
_OWN_REFS = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
_DEPTH = 5  # as many symbolic refs as git itself follows
_STATES = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def head_signature(git_dir: str, common_dir: str) -> str:
    """A text of which equal values mean that the same branch and commit were checked out.

    Another value may mean the same commit (a ref was packed). "" if there is no readable HEAD.
    """
    head = _head(git_dir)
    if head == _REF + _REFTABLE_STUB:
        stacks = (_read(os.path.join(folder, "reftable", "tables.list")) for folder in (git_dir, common_dir))
        return "\n".join(stack or "" for stack in stacks)
    if not head:
        return ""
    parts = [head]
    for _ in range(_DEPTH):
        name = head.removeprefix(_REF)
        if name == head or not name.startswith("refs/") or ".." in name:
            break
        folder = git_dir if name.startswith(_OWN_REFS) else common_dir
        head = _read(os.path.join(folder, *name.split("/")))
        if not head:
            parts.append(_packed_refs(common_dir))
            break
        parts.append(head)
    return "\n".join(parts)


def branch_name(git_dir: str) -> str | None:
    """The branch that is checked out, born or not; None if HEAD is detached or unreadable.

    Bytes that are not UTF-8 are written as `\\xNN`, so that the name can be stored.
    """
    head = _head(git_dir)
    if head == _REF + _REFTABLE_STUB:
        head = _symbolic_ref(git_dir)
    if head is None or not head.startswith(_REF):
        return None
    return head[len(_REF) :].removeprefix(_BRANCHES)


def head_commit(root: str) -> str | None:
    """The full id of the commit that is checked out in `root`; None if there is none or git cannot say."""
    from backstory.sources.git.run import git

    result = git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], root)
    return result.out.decode("ascii").strip() if result.code == 0 else None


def head_id(git_dir: str, common_dir: str, root: str) -> str | None:
    """As `head_commit`, read from the files of git; a process is asked only where they do not say it plainly."""
    head = _head(git_dir)
    if head is None or head == _REF + _REFTABLE_STUB:
        return head_commit(root)
    if not head.startswith(_REF):
        return head if _is_object_id(head) else head_commit(root)
    name = head[len(_REF) :]
    loose = _read(os.path.join(common_dir, name))
    if loose is None:
        loose = _packed_id(common_dir, name)
    return loose if _is_object_id(loose) else head_commit(root)


def _packed_id(common_dir: str, name: str) -> str:
    try:
        with open(os.path.join(common_dir, "packed-refs"), "rb") as file:
            data = b"\n" + file.read()
    except OSError:
        return ""
    end = data.find(b" " + os.fsencode(name) + b"\n")
    return "" if end < 0 else _text(data[data.rfind(b"\n", 0, end) + 1 : end])


def _is_object_id(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def in_progress(git_dir: str) -> str | None:
    """What git is in the middle of: rebase, am, merge, cherry-pick, revert, bisect, or None."""
    for name, state in _STATES:
        if os.path.exists(os.path.join(git_dir, name)):
            return state
    return None


def _head(git_dir: str) -> str | None:
    """The content of HEAD; a symbolic link, as old versions of git wrote it, reads like the text form."""
    path = os.path.join(git_dir, "HEAD")
    try:
        return _REF + os.readlink(path)
    except (OSError, ValueError):
        return _read(path)


def _symbolic_ref(git_dir: str) -> str | None:
    from backstory.sources.git.run import git

    result = git(["--git-dir", git_dir, "symbolic-ref", "--quiet", "HEAD"], git_dir)
    return _REF + _text(result.out) if result.code == 0 else None


def _packed_refs(common_dir: str) -> str:
    """Which version of the packed refs is there; git replaces the file by a new one on each change."""
    try:
        stat = os.stat(os.path.join(common_dir, "packed-refs"))
    except OSError:
        return "unborn"
    return f"packed {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return _text(file.read(1 << 16))
    except (OSError, ValueError):  # ValueError: a NUL in a damaged HEAD
        return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace").strip()
