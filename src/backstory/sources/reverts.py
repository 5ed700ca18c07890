"""Which commits take back which: told by subject or body, or shown by a patch that undoes another.

Text in, findings out: nothing here starts a process. Which commits a message means is found while the history
streams by, newest first, so memory grows with the reverts that still look for their original, not with the history.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from backstory.sources.git.log import Commit
from backstory.sources.revert_messages import (
    SHORT_ID,
    Claim,
    is_cut,
    is_id,
    keys_of,
    names_of,
    plain_title,
    read_hinted_claim,
    title_key,
)
from backstory.sources.revert_messages import may_claim as may_claim_in

# A line that more commits than this have added is boilerplate of the project.
_COMMON_COMMITS = 8
# Fewer changed lines than this come and go by chance.
_FEWEST_LINES = 4
# A silent undoing is looked for among so many commits after its original.
_PATCH_WINDOW = 2_000
_WHOLE_ID = 40


@dataclass(frozen=True, slots=True)
class Revert:
    """One commit that takes back another; `time` is its own, in seconds since the epoch.

    `found_by` is id, reference, title or patch for how the original was found, words if it was not: then
    `original_sha` is None and `files` are those of the revert, else those that both touched. `reland` is True where
    a revert is taken back, so that the first change stands again. `repeats` counts the commits that have the title of
    the original: a chore that comes back each week says nothing when it comes back.
    """

    revert_sha: str
    original_sha: str | None
    time: int
    subject_of_original: str
    reason: str
    files: tuple[str, ...]
    reland: bool = False
    partial: bool = False
    found_by: str = "words"
    more_originals: tuple[str, ...] = ()
    repeats: int = 0


@dataclass(frozen=True, slots=True)
class Patch:
    """The hashes of the lines that a commit added and removed."""

    added: frozenset[int]
    removed: frozenset[int]


def drop_common(hashes: Iterable[int], counts: Mapping[int, int]) -> frozenset[int]:
    """The hashes without those of lines that more than 8 commits added; `counts` has the commits by hash."""
    return frozenset(line for line in hashes if counts.get(line, 0) <= _COMMON_COMMITS)


def failed_lines(revert: Patch, original: Patch | None) -> frozenset[int]:
    """What was tried and given up: the lines of the original that went away again, or all that did if it is unknown."""
    return revert.removed & original.added if original else revert.removed


def find(
    commits: Iterable[Commit],
    body_of: Callable[[str], str],
    *,
    patch_of: Callable[[str], Patch | None] | None = None,
    may_claim: Callable[[Commit, str], bool] | None = None,
    repository: str = "",
) -> Iterator[Revert]:
    """The reverts among `commits`, which come newest first; yielded oldest first once all were seen.

    `body_of` gives the message of a commit without its subject, empty for one that is only offered as an original.
    Merges are originals only: what they bring in is told by its own commit. With `patch_of`, asked for every
    other commit, a commit that exactly undoes one of the 2,000 before it is found whatever its message says.
    `may_claim` is asked in place of the look ahead, by who had a look already.
    """
    search = _Search()
    hinted = may_claim or _may_claim
    for position, commit in enumerate(commits):
        body = body_of(commit.sha)
        search.offer(commit, body, position)
        if len(commit.parents) > 1:
            continue
        claim = read_hinted_claim(commit.subject, body, repository=repository) if hinted(commit, body) else None
        patch = patch_of(commit.sha) if patch_of else None
        if claim or patch:
            this = _seen(commit, position, claim)
            search.want(this)
            if patch:
                search.compare(this, patch)
    yield from search.results()


def _may_claim(commit: Commit, body: str) -> bool:
    return may_claim_in(commit.subject, body)


def _seen(commit: Commit, position: int, claim: Claim | None = None) -> _Seen:
    files = frozenset(path for change in commit.changes for path in (change.path, change.old_path) if path)
    return _Seen(commit.sha, commit.time, commit.subject, files, position, claim)


@dataclass(slots=True)
class _Seen:
    """One commit, and the originals that were found for it, by what named them."""

    sha: str
    time: int
    subject: str
    files: frozenset[str]
    position: int
    claim: Claim | None = None
    originals: dict[str, _Seen] = field(default_factory=dict)

    def shares(self, original: _Seen) -> bool:
        """Whether both touched a file; True where one of them does not tell."""
        return not self.files or not original.files or not self.files.isdisjoint(original.files)


class _Search:
    """The reverts that still look for their originals, by what could name these."""

    def __init__(self) -> None:
        self._reverts: list[_Seen] = []
        self._wanted: defaultdict[str, list[tuple[str, _Seen]]] = defaultdict(list)
        self._patches: dict[int, _Seen] = {}
        # The commits that went by, as numbers: half of what their texts would take. The same of their titles.
        self._passed: set[int] = set()
        self._titles: Counter[int] = Counter()

    def want(self, this: _Seen) -> None:
        """Look for the originals of a commit among those that follow."""
        if this.claim is None:
            return
        self._reverts.append(this)
        for cite in this.claim.ids:
            # What a release branch took back may have gone by on the main one.
            if len(cite) >= _WHOLE_ID and int(cite, 16) in self._passed:
                title = next(iter(this.claim.titles), "")
                this.originals[cite] = _Seen(cite, 0, title, frozenset(), this.position)
            else:
                self._wanted[cite[:SHORT_ID]].append((cite, this))
        for cite in this.claim.references:
            self._wanted[cite].append((cite, this))
        for title in this.claim.titles:
            if key := title_key(title):
                self._wanted[key].append((title, this))

    def offer(self, commit: Commit, body: str, position: int) -> None:
        """Hand a commit to the newer ones that look for it."""
        self._passed.add(int(commit.sha, 16))
        title, original = commit.subject, None
        keys = keys_of(title)
        self._titles[hash(keys[0])] += 1
        for key in (commit.sha[:SHORT_ID], *keys, *names_of(title, body)):
            if key not in self._wanted:
                continue
            original = original or _seen(commit, position)
            left = [(cite, this) for cite, this in self._wanted.pop(key) if not self._settle(cite, this, original)]
            if left:
                self._wanted[key] = left

    def compare(self, this: _Seen, patch: Patch) -> None:
        """See whether a newer commit undoes exactly this patch, then look for what this one undoes."""
        if len(patch.added) + len(patch.removed) < _FEWEST_LINES:
            return
        undoing = self._patches.get(hash((patch.added, patch.removed)))
        if undoing and undoing.shares(this) and "patch" not in undoing.originals:
            undoing.originals["patch"] = this
            if undoing.claim is None:
                self._reverts.append(undoing)
        # Put in anew, so that the first is the one that waits longest.
        key = hash((patch.removed, patch.added))
        self._patches.pop(key, None)
        self._patches[key] = this
        if len(self._patches) > _PATCH_WINDOW:
            del self._patches[next(iter(self._patches))]

    def results(self) -> Iterator[Revert]:
        """What was found, oldest first; a mention that led nowhere is dropped."""
        relands: dict[str, bool] = {}
        for this in sorted(self._reverts, key=attrgetter("position"), reverse=True):
            claim = this.claim or Claim(firm=False)
            found_by, originals = _best(claim, this.originals)
            if not originals and not claim.firm:
                continue
            first = originals[0] if originals else None
            reland = not relands[first.sha] if first and first.sha in relands else claim.reland
            relands[this.sha] = reland
            shared = this.files & first.files if first and first.files else this.files
            yield Revert(
                revert_sha=this.sha,
                original_sha=first.sha if first else None,
                time=this.time,
                subject_of_original=first.subject if first else next(iter(claim.titles), ""),
                reason=claim.reason,
                files=tuple(sorted(shared)),
                reland=reland,
                partial=claim.partial,
                found_by=found_by,
                more_originals=tuple(original.sha for original in originals[1:]),
                repeats=self._titles[hash(title_key(first.subject))] if first else 0,
            )

    @staticmethod
    def _settle(cite: str, this: _Seen, original: _Seen) -> bool:
        """Whether the commit is what the cite names; then it is kept."""
        if is_id(cite):
            found = original.sha.startswith(cite)
        elif is_cut(cite):
            found = plain_title(original.subject).startswith(plain_title(cite)) and this.shares(original)
        else:
            found = this.shares(original)
        if found:
            this.originals[cite] = original
        return found


def _best(claim: Claim, originals: Mapping[str, _Seen]) -> tuple[str, list[_Seen]]:
    """The originals by the surest way that found any, and its name; a merge gives way to a commit with files."""
    found = {
        way: list({originals[cite].sha: originals[cite] for cite in cites if cite in originals}.values())
        for way, cites in (("id", claim.ids), ("reference", claim.references), ("title", claim.titles))
    }
    if found["title"] and not any(original.files for original in found["reference"]):
        found["reference"] = []
    # Titles are what one and the same commit may be called.
    found["title"] = found["title"][:1]
    found["patch"] = [originals["patch"]] if "patch" in originals else []
    return next(((way, seen) for way, seen in found.items() if seen), ("words", []))
