"""Changes of this session were undone with git: `revert`, `checkout -- PATH`, `restore`, `reset --hard`, `stash drop`,
`clean`. What git undoes of files that nobody changed here is housekeeping and says nothing.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

import msgspec

from backstory.project.capture.between import Reason, reason, was_on_purpose
from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.story import Changed, Ran, Story
from backstory.project.capture.wording import listed, summary, unique
from backstory.records.hostile import one_line

NAME = "git-undo"
ACTIVE = True

_UNDOES = frozenset({"revert", "checkout", "restore", "reset", "stash", "clean", "commit"})
_AWAY = frozenset({"--continue", "--abort", "--quit", "--skip", "-n", "--dry-run", "-b", "-B", "--orphan", "--help"})
# Files that tools write: undoing them is no trial.
_MADE = re.compile(r"(?:^|/)(?:[\w.-]*lock[\w.-]*|[\w.-]+\.snap|dist/.*|build/.*|node_modules/.*)$")


class _Work(msgspec.Struct):
    """What the session changed and did not commit, in its order; what is stashed; what its commits hold."""

    open: dict[str, list[int]] = {}
    stashed: dict[str, list[int]] = {}
    committed: dict[str, list[int]] = {}


def detect(story: Story) -> Iterator[Candidate]:
    """The changes that git took back."""
    work = _Work()
    for number, step in enumerate(story.steps):
        if isinstance(step, Changed):
            work.open.setdefault(step.path, []).append(number)
        elif isinstance(step, Ran) and "git" in step.command and step.outcome != "failed":
            for words in _git_steps(step.line.same):
                undone = _cleaned(work, step) if words[1] == "clean" else _undone(work, words, step.folder)
                if undone:
                    yield from _candidate(story, undone, number, " ".join(words))


def _git_steps(same: str) -> Iterator[list[str]]:
    """The words behind `git` of each step that could undo something."""
    for part in same.split(" && "):
        if not part.startswith("git ") or len(part) > 2_000 or not any(verb in part for verb in _UNDOES):
            continue
        try:
            words = shlex.split(part)
        except ValueError:
            # A message that holds the mark it was cut at.
            words = part.split(" ")
        while len(words) > 2 and words[1] in ("-C", "-c"):
            del words[1:3]
        if len(words) > 1 and words[1] in _UNDOES and not _AWAY & set(words):
            yield words


def _undone(work: _Work, words: list[str], folder: str) -> dict[str, list[int]]:
    verb, rest = words[1], words[2:]
    flags = {word for word in rest if word.startswith("-")}
    names = [word for word in rest if not word.startswith("-")]
    if verb == "commit":
        work.committed = {**work.committed, **work.open}
        work.open = {}
    elif verb == "stash":
        return _stash(work, names[:1])
    elif verb == "reset":
        if "--hard" in flags:
            back = any(re.search(r"[~^]", name) for name in names)
            taken = {**(work.committed if back else {}), **work.open}
            work.open, work.committed = {}, {} if back else work.committed
            return taken
    elif verb == "revert":
        taken, work.committed = work.committed, {}
        return taken
    elif not (verb == "restore" and flags & {"--staged", "-S"} and not flags & {"--worktree", "-W"}):
        return _paths(work, names, folder)
    return {}


def _stash(work: _Work, verb: list[str]) -> dict[str, list[int]]:
    if verb in ([], ["push"], ["save"]):
        work.stashed, work.open = {**work.stashed, **work.open}, {}
    elif verb in (["pop"], ["apply"]):
        work.open, work.stashed = {**work.open, **work.stashed}, {}
    elif verb in (["drop"], ["clear"]):
        taken, work.stashed = work.stashed, {}
        return taken
    return {}


def _cleaned(work: _Work, step: Ran) -> dict[str, list[int]]:
    """`git clean` takes only what git does not know, and says what."""
    gone = re.findall(r"^Removing (.+)$", step.output, re.MULTILINE)
    return _paths(work, gone, step.folder) if gone else {}


def _paths(work: _Work, names: list[str], folder: str) -> dict[str, list[int]]:
    """The open changes of the files named, or below the folders named."""
    wanted = [posixpath.normpath(posixpath.join(folder, name)) for name in names]
    taken = {
        path: changes
        for path, changes in work.open.items()
        if any(want in (".", path) or path.startswith(want + "/") for want in wanted)
    }
    for path in taken:
        del work.open[path]
    return taken


def _candidate(story: Story, undone: dict[str, list[int]], number: int, command: str) -> Iterator[Candidate]:
    files = unique(path for path in undone if not _MADE.search(path))
    if not files:
        return
    first = min(undone[path][0] for path in files)
    last = max(undone[path][-1] for path in files)
    why = reason(story.steps[last + 1 : number])
    if was_on_purpose(story.steps[max(0, first - 2) : number]):
        return
    step, made = story.steps[number], story.steps[last]
    yield Candidate(
        NAME,
        "trial",
        _fields(files, command, why),
        (
            Evidence(made.offset, f"{files[-1]} changed"),
            *((Evidence(why.offset, why.words.removeprefix("after ")[:120]),) if why else ()),
            Evidence(step.offset, f"`{one_line(command, 100)}`"),
        ),
        step.at,
        weight=4.0 + (1.0 if why else 0.0),
        key=f"undone:{','.join(sorted(files))}",
    )


def _fields(files: tuple[str, ...], command: str, why: Reason | None) -> dict[str, object]:
    shown = one_line(command.replace("`", "'"), 80)
    because = f" {why.words}" if why else ""
    fields: dict[str, object] = {
        "summary": summary(f"Changes of {listed(files)} were undone with `{shown}`{because}"),
        "outcome": "failed",
        "files": files,
    }
    if why and why.ran:
        fields["failure_mode"] = why.ran.error
        fields["command"] = why.ran.line.same
    return fields
