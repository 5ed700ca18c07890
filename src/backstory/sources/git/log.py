"""The history that a repository holds: commits with the files they changed, and how they hang together.

One `git log` pass yields everything, in memory bounded by the largest commit. Rename detection reads file
contents, so a partial clone, which lacks them, gets exact renames only and never fetches; so does a damaged
repository from the first missing content on.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

import msgspec

from backstory.sources.git.objects import resolve
from backstory.sources.git.run import git
from backstory.sources.git.stream import GitFailed, failure, fields_of

# Every field ends in NUL, which neither a subject nor a path can hold. Only a list of changes begins with a
# line break, and only a commit id is longer than a status, so no subject or path can be taken for either.
_FORMAT = "--format=%H%x00%P%x00%ct%x00%at%x00%s"
_MESSAGES = "%x00%an%x00%b"
_LONGEST_STATUS = 4  # R100
# A person's settings must not change what is read, nor start a program (log.showSignature runs gpg).
PLAIN = [
    "--encoding=UTF-8",
    "--no-color",
    "--no-ext-diff",
    "--no-notes",
    "--no-relative",
    "--no-show-signature",
    "--no-textconv",
    "--diff-merges=off",
    "--ignore-submodules=none",
    "-O/dev/null",
    "-l1000",
    "-z",
]
# By similarity, by equal content only, and not at all.
_NAMES = ["--root", "--name-status", "-M"]
_EXACT_NAMES = ["--root", "--name-status", "-M100%"]
_NO_NAMES = ["--no-patch"]
_BRANCH_LIMIT = 200
_DEFAULT_BRANCHES = ("main", "master", "trunk", "develop")
_HEADS = "refs/heads/"
_ORIGIN = "refs/remotes/origin/"


class Change(msgspec.Struct, frozen=True, gc=False):
    """One file of one commit: `status` is A, M, D, R, C or T; `old_path` is where an R or C came from."""

    status: str
    path: str
    old_path: str | None = None


class Commit(msgspec.Struct, frozen=True, gc=False):
    """One commit; times are seconds since the epoch, 0 if the commit holds none.

    A merge has no changes. `changes_known` is False where git cannot say what was changed: at the boundary
    of a shallow clone, whose real parents are unknown too, and in a partial clone without trees. `author` and
    `body`, the message without its subject, are "" unless messages were asked for.
    """

    sha: str
    parents: tuple[str, ...]
    time: int
    author_time: int
    subject: str
    changes: tuple[Change, ...]
    changes_known: bool = True
    author: str = ""
    body: str = ""


def commits(
    root: str,
    *,
    include: str = "HEAD",
    exclude: str | None = None,
    max_count: int | None = None,
    messages: bool = False,
) -> Iterator[Commit]:
    """Commits reachable from `include` and not from `exclude`, children before parents, newest first.

    Nothing for an unborn HEAD. Paths are relative to the top of the work tree, with bytes that are not UTF-8
    as surrogate escapes; in a subject they become U+FFFD. `GitFailed` if git cannot read the repository, does
    not know a revision, or breaks off; the commits before the break come first, the last of them withheld
    because it may be incomplete.
    """
    revisions = _range(root, include, exclude)
    if not revisions:
        return
    bound = [] if max_count is None else [f"--max-count={max_count}"]
    boundary = _boundary(_common_dir(root))
    seen = 0
    for names in _ways_to_name_files(_partial_filters(root)):
        form = _FORMAT + _MESSAGES if messages else _FORMAT
        args = ["log", "--topo-order", *PLAIN, *names, form, *bound, *revisions, "--"]
        try:
            with closing(_read(args, root, 6 if messages else 4)) as stream:
                for commit in islice(stream, seen, None):
                    seen += 1
                    known = names != _NO_NAMES and commit.sha not in boundary
                    yield commit if known else msgspec.structs.replace(commit, changes=(), changes_known=False)
            return
        except GitFailed as exc:
            if names != _NAMES or "unable to read" not in exc.message:
                raise


def is_ancestor(root: str, a: str, b: str) -> bool:
    """Whether commit `a` is `b` or reachable from it; False if either is unknown here."""
    return git(["merge-base", "--is-ancestor", "--end-of-options", a, b], root).code == 0


def known_commits(root: str, shas: Iterable[str]) -> dict[str, bool]:
    """Whether each id, full or a unique beginning of one, is a commit that the repository holds.

    A commit that no branch reaches any more counts as held until git collects it. Empty if git cannot read
    the repository.
    """
    asked = sorted({sha for sha in shas if sha})
    ids = [sha for sha in asked if not set(sha.lower()) - set("0123456789abcdef")]
    found, _ = resolve(root, ids) if ids else ([], None)
    if len(found) < len(ids):
        return {}
    commit_ids = {sha for sha, entry in zip(ids, found, strict=True) if entry and entry[1] == "commit"}
    return {sha: sha in commit_ids for sha in asked}


def first_parent(root: str, include: str = "HEAD", exclude: str | None = None) -> list[str]:
    """The first-parent line from `include` down to what `exclude` reaches, oldest first.

    It continues the line of `exclude` only if the first parent of its first commit is `exclude`; after a
    fast-forward to a merge that was made elsewhere it does not, and positions counted before no longer hold.
    """
    revisions = _range(root, include, exclude)
    if not revisions:
        return []
    result = git(["rev-list", "--first-parent", "--reverse", *revisions, "--"], root)
    if result.code != 0:
        raise failure(result, root)
    return result.out.decode("ascii").split()


def commit_before(root: str, at: int) -> str:
    """The last commit of HEAD's history that was made before a moment (microseconds); "" for none."""
    result = git(["rev-list", "--max-count=1", f"--before={at // 1_000_000}", "HEAD", "--"], root)
    return result.out.decode("ascii").strip() if result.code == 0 else ""


def landing_positions(
    commits_oldest_first: Iterable[Commit], mainline: Sequence[str], *, start: int = 0
) -> dict[str, int]:
    """For each commit the position on the mainline (oldest first) at which it became reachable.

    `start` is the position of the first of `mainline`. Commits that were passed but are not reachable from it
    are left out, and so are ancestors that were not passed: they landed before.
    """
    parents = {commit.sha: commit.parents for commit in commits_oldest_first}
    landed: dict[str, int] = {}
    for position, tip in enumerate(mainline, start):
        waiting = [tip]
        while waiting:
            sha = waiting.pop()
            if sha in parents and sha not in landed:
                landed[sha] = position
                waiting.extend(parents[sha])
    return landed


def branch_commits(root: str) -> list[str]:
    """The branch's own commits, newest first, at most 200: those of HEAD that the default branch lacks.

    The default branch is where origin/HEAD points, else main, master, trunk or develop; its local and its
    remote state both count. Empty on the default branch and where there is none.
    """
    revisions = _branch_range(root)
    if not revisions:
        return []
    result = git(["rev-list", f"--max-count={_BRANCH_LIMIT}", *revisions, "--"], root)
    return result.out.decode("ascii").split() if result.code == 0 else []


def branch_files(root: str) -> tuple[str, ...]:
    """The files that `branch_commits` touched, both sides of a rename, sorted."""
    revisions = _branch_range(root)
    if not revisions:
        return ()
    names = ["--root", "--name-only", "--no-renames", "--format="]
    result = git(["log", f"--max-count={_BRANCH_LIMIT}", *PLAIN, *names, *revisions, "--"], root)
    paths = result.out.decode("utf-8", "surrogateescape").split("\0")
    return tuple(sorted(set(paths) - {""})) if result.code == 0 else ()


def is_shallow(common_dir: str) -> bool:
    """Whether the history of this clone was cut off."""
    return bool(_boundary(common_dir))


def _range(root: str, include: str, exclude: str | None) -> list[str]:
    """The revision arguments by full ids; empty if `include` is an unborn HEAD."""
    names = [include] if exclude is None else [include, exclude]
    found, result = resolve(root, [f"{name}^{{commit}}" for name in names])
    if len(found) < len(names):
        raise failure(result, root)
    if found[0] is None and include == "HEAD":
        return []
    for name, entry in zip(names, found, strict=True):
        if entry is None:
            raise GitFailed(f"The repository {root} does not know the commit {name}.")
    ids = [entry[0] for entry in found if entry]
    return [ids[0], *(f"^{sha}" for sha in ids[1:])]


def _branch_range(root: str) -> list[str]:
    """The revision arguments for the branch's own commits; empty where that has no meaning."""
    patterns = [f"{_ORIGIN}{name}" for name in ("HEAD", *_DEFAULT_BRANCHES)]
    result = git(["for-each-ref", "--format=%(refname)%00%(symref)%00%(HEAD)", *patterns, _HEADS], root)
    lines = result.out.decode("utf-8", "surrogateescape").splitlines()
    refs = {ref: (target, mark) for ref, target, mark in (line.split("\0") for line in lines)}
    target, _ = refs.get(f"{_ORIGIN}HEAD", ("", ""))
    names = [target.removeprefix(_ORIGIN)] if target else list(_DEFAULT_BRANCHES)
    for name in names:
        local, remote = f"{_HEADS}{name}", f"{_ORIGIN}{name}"
        if refs.get(local, ("", ""))[1] == "*":
            return []
        known = [f"^{ref}" for ref in (remote, local) if ref in refs or ref == target]
        if known:
            return ["HEAD", *known]
    return []


def _partial_filters(root: str) -> list[str]:
    """What a partial clone left out; empty for a full one."""
    result = git(["config", "-z", "--get-regexp", r"^(extensions|remote\..*)\.(partialclone|promisor)"], root)
    settings = [entry.partition("\n") for entry in result.out.decode("utf-8", "replace").split("\0") if entry]
    return [value for _, _, value in settings if value.lower() not in ("false", "no", "off", "0")]


def _ways_to_name_files(filters: list[str]) -> list[list[str]]:
    """The options to read changes with, the second for the case that a damaged repository lacks a content."""
    if any("tree:" in name or "tree%3" in name for name in filters):
        return [_NO_NAMES]
    return [_EXACT_NAMES] if filters else [_NAMES, _EXACT_NAMES]


def _common_dir(root: str) -> str:
    """The git dir that all work trees of the clone share."""
    result = git(["rev-parse", "--git-common-dir"], root)
    return os.path.join(root, os.fsdecode(result.out.removesuffix(b"\n")))


def _boundary(common_dir: str) -> frozenset[str]:
    """The commits at which a shallow clone was cut off."""
    try:
        with open(os.path.join(common_dir, "shallow"), encoding="ascii") as file:
            return frozenset(file.read().split())
    except FileNotFoundError:
        return frozenset()


def _read(args: list[str], root: str, fields: int) -> Generator[Commit]:
    """The commits that git prints, one process for all; `fields` follow each id."""
    with closing(fields_of(args, root)) as stream:
        yield from _parse(stream, fields)


def _parse(tokens: Iterator[str], count: int) -> Iterator[Commit]:
    """Commits of the token stream; one that was cut off is left out."""
    token = next(tokens, None)
    while token:
        fields = list(islice(tokens, count))
        if len(fields) < count:
            return
        sha, token = token, next(tokens, None)
        changes: list[Change] = []
        if token and token[0] == "\n":
            token = token[1:]
            while token and len(token) <= _LONGEST_STATUS:
                changes.append(_change(token, tokens))
                token = next(tokens, None)
        parents, time, author_time, subject = fields[:4]
        author, body = fields[4:] or ("", "")
        yield Commit(
            sha,
            tuple(parents.split()),
            int(time or 0),
            int(author_time or 0),
            _clean(subject),
            tuple(changes),
            author=_clean(author),
            body=_clean(body).strip(),
        )


def _change(status: str, tokens: Iterator[str]) -> Change:
    letter, first = status[0], next(tokens, "")
    return Change(letter, next(tokens, ""), first) if letter in "RC" else Change(letter, first)


def _clean(subject: str) -> str:
    """The text with U+FFFD for bytes that are not UTF-8."""
    if subject.isascii():
        return subject
    return subject.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
