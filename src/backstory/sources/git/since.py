"""What differs between a commit and the work tree: committed since, staged, unstaged and untracked alike.

Nothing is written and nothing is fetched. What git cannot say is said in words and never guessed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from backstory.sources.git.blobs import user_email
from backstory.sources.git.objects import resolve
from backstory.sources.git.run import GitResult, git

SECONDS = 60.0
_LIMIT = 1 << 26
# A person's settings must not change what is listed. Of a submodule only another commit counts.
_DIFF = ["diff", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-relative", "-O/dev/null", "-l1000"]
_SUBMODULES = "--ignore-submodules=dirty"
_UNTRACKED = ["ls-files", "-z", "--others", "--exclude-standard"]
# What a rebase keeps of a commit: its author, when it was written, its subject.
_WRITTEN = ["log", "--encoding=UTF-8", "--no-show-signature"]
_AUTHORSHIP = "--format=%an%x00%ae%x00%at%x00%s%x00%H%x00%P"
_HEX = re.compile(r"[0-9a-f]{7,64}")
# Untracked files that are held against missing ones, each of which is read.
_MOST_COMPARED = 500


class Change(NamedTuple):
    """A path that differs, relative to the top of the work tree. `old`: the name it had; `gone`: it was deleted."""

    path: str
    old: str = ""
    gone: bool = False


class Since(NamedTuple):
    """The changes, by path, and the commit they are counted from; without one, `why` says what git could not find.

    `notes` say what makes the changes more, or other ones, than those of one person's work since the base.
    """

    changes: tuple[Change, ...] = ()
    base: str = ""
    why: str = ""
    notes: tuple[str, ...] = ()


def changed_since(root: str, base: str, *, timeout: float = SECONDS) -> Since:
    """What differs between the commit `base` and the work tree whose top is `root`.

    A base that a rebase has rewritten is followed to the commit that it became.
    """
    deadline = time.monotonic() + timeout
    start, why, note = _starting_point(root, base.strip().lower(), deadline)
    if why:
        return Since(why=why)
    notes = [note, _by_others(root, start, deadline)]
    result = _ask([*_DIFF, "-M", _SUBMODULES, start, "--"], root, deadline)
    if result.code == 128 and b"promisor" in result.err:  # a partial clone lacks the content that -M compares
        notes.append("a renamed file counts twice, since this partial clone lacks contents")
        result = _ask([*_DIFF, "--no-renames", _SUBMODULES, start, "--"], root, deadline)
    others = _ask(_UNTRACKED, root, deadline)
    if result.code or others.code:
        return Since(why=_failure(result if result.code else others))
    changes, missing = _changes(result.out)
    untracked = {path for path in _texts(others.out) if path}
    for path, old in _moved(root, missing, untracked, deadline):
        changes[path] = Change(path, old)
        changes.pop(old, None)
    for path in untracked:
        changes[path] = changes.get(path, Change(path))._replace(gone=False)
    return Since(tuple(changes[path] for path in sorted(changes)), start, "", tuple(filter(None, notes)))


def _ask(arguments: list[str], root: str, deadline: float, stdin: bytes | None = None) -> GitResult:
    left = max(0.1, deadline - time.monotonic())
    return git(arguments, root, timeout=left, limit=_LIMIT, stdin=stdin)


def _failure(result: GitResult) -> str:
    if result.timed_out:
        return "git did not answer in time"
    if result.code == 127:
        return "git cannot be run"
    lines = result.err.decode("utf-8", "replace").strip().splitlines()
    return f"git failed ({lines[-1][:200] if lines else result.code})"


def _texts(out: bytes) -> list[str]:
    return out.decode("utf-8", "surrogateescape").split("\0")


# --- where to count from ---------------------------------------------------------------------------------------


def _starting_point(root: str, base: str, deadline: float) -> tuple[str, str, str]:
    """(commit to compare with, why there is none, note)."""
    if not _HEX.fullmatch(base):
        return "", f"{base[:60]!r} is no commit id", ""
    found, result = resolve(root, [f"{base}^{{commit}}"])
    if not found and result.code:
        return "", _failure(result), ""
    if found[0] is None:
        return "", _absent(root, base, deadline), ""
    commit = found[0][0]
    descends = _ask(["merge-base", "--is-ancestor", commit, "HEAD"], root, deadline)
    if descends.code == 0:
        return commit, "", ""
    rewritten = _rewritten(root, commit, deadline) if descends.code == 1 else ""
    if rewritten == commit:
        return commit, "", f"the base commit {commit[:12]} was amended since"
    if rewritten:
        return rewritten, "", f"the base commit {commit[:12]} was rebased and is {rewritten[:12]} now"
    what = "the branch was rebased, reset or left since"
    return "", f"HEAD does not descend from the base commit {commit[:12]} ({what})", ""


def _absent(root: str, base: str, deadline: float) -> str:
    shallow = _ask(["rev-parse", "--is-shallow-repository"], root, deadline).out.strip() == b"true"
    if shallow:
        return f"the base commit {base[:12]} is not in this shallow clone (`git fetch --unshallow` brings it)"
    return f"git has no commit {base[:12]} here (it was rewritten and cleaned away, or it is of another clone)"


def _rewritten(root: str, commit: str, deadline: float) -> str:
    """The commit of HEAD's history that `commit` became; itself where it was amended in place; "" if unknown."""
    own = _ask([*_WRITTEN, "-1", _AUTHORSHIP, commit, "--"], root, deadline)
    *sign, _, parents = own.out.rstrip(b"\n").split(b"\0")
    since = _ask([*_WRITTEN, _AUTHORSHIP, f"{commit}..HEAD", "--"], root, deadline)
    if own.code or since.code:
        return ""
    rows = (line.split(b"\0") for line in since.out.split(b"\n") if line)
    twins = [(row[-2], row[-1]) for row in rows if row[:-2] == sign]
    if len(twins) != 1:
        return ""
    id_, above = twins[0]
    # What was amended belongs to the work: the tree before it is the one to compare with.
    return commit if above == parents else id_.decode("ascii")


def _by_others(root: str, start: str, deadline: float) -> str:
    """A note on the commits since `start` that others wrote: after a pull their files differ as well."""
    result = _ask([*_WRITTEN, "--no-merges", "--format=%ae", f"{start}..HEAD", "--"], root, deadline)
    own = user_email(root)
    authors = [line for line in result.out.decode("utf-8", "replace").split("\n") if line]
    count = sum(author != own for author in authors) if own and not result.code else 0
    return f"{count} of the {len(authors)} commits since are by others, and their files count too" if count else ""


# --- what changed ----------------------------------------------------------------------------------------------


def _changes(out: bytes) -> tuple[dict[str, Change], dict[str, list[str]]]:
    """The changes of `--raw -z` by path, and the deleted paths by the id of what they held."""
    fields = iter(_texts(out))
    changes: dict[str, Change] = {}
    missing: dict[str, list[str]] = {}
    for field in fields:
        if not field.startswith(":"):
            continue
        _, _, blob, _, status = field.split(" ")
        path = next(fields, "")
        if status[:1] in ("R", "C"):
            old, path = path, next(fields, "")
            changes[path] = Change(path, old if status[0] == "R" else "")
            continue
        changes[path] = Change(path, gone=status == "D")
        if status == "D":
            missing.setdefault(blob, []).append(path)
    return changes, missing


def _moved(root: str, missing: dict[str, list[str]], untracked: set[str], deadline: float) -> Iterator[tuple[str, str]]:
    """(new, old) of files that were moved without git's knowledge and hold what they held."""
    names = sorted(path for path in untracked if "\n" not in path and not path.endswith("/"))
    names = [path for path in names if os.path.isfile(full := os.path.join(root, path)) and not os.path.islink(full)]
    if not missing or not names or len(names) > _MOST_COMPARED:
        return
    asked = "".join(f"{path}\n" for path in names).encode("utf-8", "surrogateescape")
    result = _ask(["hash-object", "--stdin-paths"], root, deadline, asked)
    ids = result.out.decode("ascii", "replace").split()
    if result.code or len(ids) != len(names):
        return
    for path, id_ in zip(names, ids, strict=True):
        if missing.get(id_):
            yield path, missing[id_].pop(0)
