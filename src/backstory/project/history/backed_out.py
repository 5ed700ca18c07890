"""Commits that were backed out, as failed trials of the memory: computed from git, in no log.

A person or an agent can confirm, retire or reject one like any other entry: its id is made from the commit's id, so it
is the same in every clone and after every rebuild.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

from backstory.index.computed import Computed
from backstory.records import secrets
from backstory.records.codec import canonical, to_fields
from backstory.records.event import DETAIL_LIMIT, IMPORT, SUMMARY_LIMIT, By, FileRef
from backstory.records.hostile import is_directive, one_line
from backstory.records.ids import new_id
from backstory.records.kinds.trial import Trial
from backstory.records.likeness import line_hashes
from backstory.records.times import MICROS, format_instant
from backstory.sources.git.log import Commit
from backstory.sources.git.patches import patches
from backstory.sources.revert_messages import read_claim
from backstory.sources.reverts import Patch, Revert, drop_common, failed_lines

SOURCE = "git"
# Files of one entry; a sweeping change that was backed out is about none of its files in particular.
MOST_FILES = 50
# Hashes kept of one failed patch: enough to know it again.
MOST_LINES = 2_000
# Commits that may share the title of one that was backed out, before it counts as a chore.
MOST_REPEATS = 2
_REASON = 600
# The text runs on when it is quoted for one line: only its first sentence is.
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])|\n\s*\n")


def claims(commit: Commit, repository: str) -> bool:
    """Whether a commit says that it takes another back."""
    return read_claim(commit.subject, commit.body, repository=repository) is not None


class FileNames:
    """What files are called now, followed from the newest commit backwards."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._kept: dict[str, dict[str, str]] = {}

    def see(self, commit: Commit, kept: bool) -> None:
        """Pass a commit; commits come newest first. The names are kept of one that may be a revert."""
        if kept:
            found = {change.path: self._now.get(change.path, change.path) for change in commit.changes}
            self._kept[commit.sha] = {old: new for old, new in found.items() if old != new}
        for change in commit.changes:
            if change.status == "R" and change.old_path:
                self._now[change.old_path] = self._now.get(change.path, change.path)
            elif change.status == "A":
                self._now.pop(change.path, None)

    def at(self, sha: str, path: str) -> str:
        """The present name of a path that the commit touched."""
        return self._kept.get(sha, {}).get(path, path)


def entry_id(revert: Revert) -> str:
    """The id of the entry that a revert makes."""
    return new_id(revert.time * MICROS, blake2b(f"git:{revert.revert_sha}".encode(), digest_size=10).digest())


def entries(
    root: str,
    found: Sequence[Revert],
    names: FileNames,
    messages: Mapping[str, str],
    known: Mapping[str, tuple[int, ...]],
) -> Iterator[Computed]:
    """The entries that `found` make; `messages` are bodies by commit, `known` the line hashes by entry, as kept."""
    relanded = {revert.original_sha: revert for revert in found if revert.reland and revert.original_sha}
    failed = [revert for revert in found if not revert.reland]
    lines = _lines(root, [revert for revert in failed if entry_id(revert) not in known])
    for revert in failed:
        id_ = entry_id(revert)
        again = relanded.get(revert.revert_sha)
        trial = _trial(revert, id_, names, messages.get(revert.original_sha or "", ""))
        yield Computed(
            id=id_,
            at=trial.at,
            kind=trial.kind,
            body=canonical(to_fields(trial)),
            level="retired" if again else "proposed" if trial.held else "active",
            why=f"landed again in {again.revert_sha[:12]}" if again else "",
            patch=known.get(id_) or lines.get(revert.revert_sha, ()),
            routine=revert.repeats > MOST_REPEATS,
        )


def _trial(revert: Revert, id_: str, names: FileNames, message: str) -> Trial:
    what = "Backed out in part" if revert.partial else "Backed out"
    subject = one_line(_clean(revert.subject_of_original), 200) or "an earlier change"
    reason = _clean(revert.reason)
    detail = "\n\n".join(part for part in (reason, _clean(message)) if part)
    files = sorted({names.at(revert.revert_sha, path) for path in revert.files})
    held = "directive" if is_directive(f"{subject}\n{detail}") else ""
    cited = [f"commit {revert.original_sha[:12]} was backed out"] if revert.original_sha else []
    cited += [f"commit {sha[:12]} too" for sha in revert.more_originals]
    return Trial(
        id=id_,
        kind="trial",
        at=format_instant(revert.time * MICROS),
        by=By(kind=IMPORT, name=SOURCE),
        summary=one_line(f"{what}: {subject}", SUMMARY_LIMIT),
        detail=detail[:DETAIL_LIMIT],
        failure_mode=one_line(_SENTENCE.split(reason, maxsplit=1)[0], _REASON),
        files=tuple(FileRef(_plain(path)) for path in files[:MOST_FILES]),
        commit=revert.revert_sha,
        evidence=tuple(cited[:10]),
        held=held,
    )


def _clean(text: str) -> str:
    return secrets.redact(_plain(text)).text.strip()


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _lines(root: str, reverts: Sequence[Revert]) -> dict[str, tuple[int, ...]]:
    """By revert: the hashes of the lines that were tried and given up, without those that many patches share."""
    wanted = {revert.revert_sha for revert in reverts}
    wanted |= {revert.original_sha for revert in reverts if revert.original_sha}
    read: dict[str, Patch] = {}
    shared: Counter[int] = Counter()
    for sha, added, removed in patches(root, wanted):
        read[sha] = Patch(line_hashes(added), line_hashes(removed))
        shared.update(read[sha].added)
    found = {}
    for revert in reverts:
        if revert.revert_sha in read:
            original = read.get(revert.original_sha or "")
            hashes = failed_lines(read[revert.revert_sha], original)
            found[revert.revert_sha] = tuple(sorted(drop_common(hashes, shared)))[:MOST_LINES]
    return found


def messages(rows: Iterable[tuple[str, str]], wanted: Iterable[str]) -> dict[str, str]:
    """The bodies of the wanted commits among (sha, body)."""
    asked = set(wanted)
    return {sha: body for sha, body in rows if sha in asked}
