"""The check: what the memory says about a change that is about to be made.

Promise: nothing warns for a shared file alone; a memory that could not be read whole is said in `problems`, so that no
gate passes in silence; a path that nothing is known about is named as such, which is not the same as safe.

Levels: `warn` for what was tried before and for what was decided otherwise; `block` where a person marked it (pinned
and confirmed): a trial that comes back, or a file that bites; `info` for all else that binds the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from backstory.config import FOLDER
from backstory.project import snoozing
from backstory.project.changes import Changes
from backstory.project.opened import Project
from backstory.project.refresh import recheck
from backstory.project.sharing.applying import touching
from backstory.recall import check as recall_check
from backstory.recall import notes
from backstory.recall.check import BLOCK, INFO, LEVELS, WARN, Match
from backstory.recall.view import View, by_ids, views
from backstory.records.hostile import one_line
from backstory.records.likeness import coverage, subject_words
from backstory.records.times import format_instant

# Of what binds the files, so much is shown.
MOST_INFO = 5
# Of lessons of other projects, beside them.
MOST_LESSONS = 2
_TEXT = 400


class Finding(msgspec.Struct, frozen=True):
    """One thing to know before the change. `files` are those of the change that it is about.

    `origin` is the name of the other project that a lesson comes from: `backstory global show ID` shows that one.
    """

    id: str
    short: str
    kind: str
    level: str
    text: str
    why: str
    files: tuple[str, ...]
    evidence: tuple[str, ...]
    at: str
    origin: str = ""


class Checked(msgspec.Struct, frozen=True):
    """What a check found, the gravest first; `more` counts what binds the files beyond what is shown.

    `worst` is the gravest level, "" when nothing was found. `unknown` are paths of which nothing is known, `snoozed`
    one line for each warning that this person snoozed, `problems` why the memory could not be read whole.
    """

    findings: tuple[Finding, ...]
    unknown: tuple[str, ...]
    snoozed: tuple[str, ...]
    problems: tuple[str, ...]
    paths: tuple[str, ...]
    worst: str = ""
    more: int = 0

    def reaches(self, level: str) -> bool:
        """Whether something was found at this level or above."""
        return bool(self.worst) and LEVELS.index(self.worst) >= LEVELS.index(level)


def check(
    project: Project, paths: Sequence[str], *, intent: str = "", diff: str = "", changes: Changes | None = None,
    others: bool = True,
) -> Checked:  # fmt: skip
    """Check a change of `paths` (relative to the project), for what it is meant and what it adds, where that is known.

    `diff` is a unified diff; `changes` is one that was read already. Both add their own paths. Without `others` no
    lesson of another project is among the findings: for answers that leave this machine.
    """
    if diff:
        from backstory.project.changes import of_diff

        changes = of_diff(diff)
    known = changes or Changes()
    asked = tuple(dict.fromkeys([*paths, *known.paths]))
    change = recall_check.Change(asked, intent, recall_check.Patch(known.lines))
    names = recall_check.present_names(project.db, asked[: recall_check.MAX_PATHS])
    bound = _bound(project, names)
    found = [
        *_tried(project, recall_check.like_failed(project.db, change, project.now)),
        *_decided(project, names, intent),
        *(_finding_of(project, note, names) for note in bound),
        *(_of_others(project, names) if others else ()),
    ]
    kept, snoozed = _awake(project, _once(found))
    # The sort keeps the order of equals; what is stale comes after what is not.
    kept.sort(key=lambda one: (-LEVELS.index(one.level), _is_stale(one)))
    graver = [one for one in kept if one.level != INFO]
    light = [one for one in kept if one.level == INFO and not one.origin]
    told = [one for one in kept if one.origin]
    return Checked(
        findings=(*graver, *light[:MOST_INFO], *told[:MOST_LESSONS]),
        unknown=tuple(_unknown(project, names, kept)),
        snoozed=tuple(snoozed),
        problems=tuple([*_problems(project), *_cut(asked)]),
        paths=asked,
        worst=max((one.level for one in kept), key=LEVELS.index, default=""),
        more=max(0, len(light) - MOST_INFO) + max(0, len(told) - MOST_LESSONS),
    )


def _bound(project: Project, names: dict[str, str]) -> list[notes.Note]:
    """What binds the files; what it cites is looked at again first."""
    present = list(dict.fromkeys(names.values()))
    bound = notes.about(project.db, present, project.now, stale=True)
    if recheck(project, [note.id for note in bound]):
        bound = notes.about(project.db, present, project.now, stale=True)
    return bound


def _tried(project: Project, matches: Sequence[Match]) -> Iterable[Finding]:
    """The failed trials that the change is like."""
    for match in matches:
        row = project.db.execute("SELECT id, pinned, standing, source FROM entries WHERE entry = ?", (match.entry,))
        id_, pinned, standing, source = row.fetchone()
        view = by_ids(project.db, [id_], project.now)[id_]
        binding = bool(pinned) and standing == "confirmed"
        yield _finding(view, BLOCK if binding else WARN, _tried_text(view, source), _likeness(match), match.files)


def _tried_text(view: View, source: str) -> str:
    """`this was tried and backed out because X (commit, date)`: what happened, never what will."""
    reason = one_line(str(view.fields.get("failure_mode") or ""), _TEXT).rstrip(".")
    because = f" because {_lower(reason)}" if reason else ""
    where = f"commit {view.fields.get('commit', '')[:12]}, {view.at[:10]}" if source == "git" else view.at[:10]
    how = "backed out" if source == "git" else "given up" if view.fields.get("outcome") == "partial" else "failed"
    subject = view.summary.removeprefix("Backed out in part: ").removeprefix("Backed out: ")
    how = f"{how} in part" if view.summary.startswith("Backed out in part") else how
    tried = "was tried and" if source == "git" else "was tried and" if how == "failed" else "was tried and then"
    return one_line(f"This {tried} {how}{because} ({where}): {subject}", _TEXT)


def _lower(text: str) -> str:
    """A reason inside a sentence; a name or an abbreviation keeps its capital."""
    return text[0].lower() + text[1:] if text[:1].isupper() and text[1:2].islower() else text


def _likeness(match: Match) -> str:
    if match.by == "patch":
        return f"its lines come back ({match.share:.0%} of its patch)"
    return f"the words say the same ({match.share:.0%}), and it touches the same files"


def _decided(project: Project, names: dict[str, str], intent: str) -> Iterable[Finding]:
    """Decisions about the files that were replaced or turned down, or that turned it down, where the intent says it."""
    asked = subject_words(intent)
    if not asked:
        return
    marks = ",".join("?" * len(names))
    where = (
        f"e.kind = 'decision' AND e.entry IN (SELECT entry FROM entry_files WHERE path IN ({marks}))"
        " AND e.source = 'log' ORDER BY e.last_at DESC LIMIT 50"
    )
    for view in views(project.db, where, list(names.values()), project.now):
        files = tuple(path for path, now in names.items() if any(_cites(item, now) for item in view.files))
        if view.standing in ("superseded", "rejected", "retired") and _says(asked, view.summary):
            instead = ", ".join(id_[-6:] for id_ in view.superseded_by)
            what = f"superseded by {instead}" if instead else view.standing
            text = f"This was decided and is {what}: {view.summary}"
            yield _finding(view, WARN, text, str(view.ended.get("reason", "")), files)
        elif view.live:
            for other in view.fields.get("alternatives_rejected") or ():
                if _says(asked, str(other)):
                    text = f"This was ruled out by a decision: {one_line(str(other), 120)}; it chose: {view.summary}"
                    yield _finding(view, WARN, text, str(view.fields.get("rationale", "")), files)
                    break


def _cites(item: str, path: str) -> bool:
    return item == path or item.startswith((f"{path}:", f"{path}#"))


def _says(asked: Sequence[str], text: str) -> bool:
    """Whether what is asked for says what a text says: all but a quarter of the words of each are in the other."""
    words = subject_words(text)
    even = dict.fromkeys([*asked, *words], 1.0)
    share = recall_check.ASKED_SHARE
    return bool(words) and coverage(words, asked, even) >= share and coverage(asked, words, even) >= share / 2


def _finding_of(project: Project, note: notes.Note, names: dict[str, str]) -> Finding:
    view = by_ids(project.db, [note.id], project.now)[note.id]
    binding = note.kind == "hotfile" and note.pinned and note.confirmed
    files = tuple(path for path, now in names.items() if now in note.paths)
    line = notes.line_of(project.db, note)
    # The line says of what is in another tree that it is.
    tags = "; ".join(tag for tag in view.tags if f"[{tag}]" not in line)
    return _finding(view, BLOCK if binding else INFO, f"{line} [{tags}]" if tags else line, "", files)


def _of_others(project: Project, names: dict[str, str]) -> Iterable[Finding]:
    """Lessons of other projects on the libraries that the files use; never more than information."""
    for one in touching(project, names):
        evidence = (f"project {one.project}", *(f"tagged {tag}" for tag in one.tags))
        yield Finding(
            one.id, one.short, "lesson", INFO, one_line(one.text, _TEXT), "", one.files, evidence, one.at, one.project
        )


def _finding(view: View, level: str, text: str, why: str, files: Sequence[str]) -> Finding:
    return Finding(
        id=view.id,
        short=view.short,
        kind=view.kind,
        level=level,
        text=one_line(text, _TEXT),
        why=one_line(why, _TEXT),
        files=tuple(files),
        evidence=(*view.evidence, *(f"tagged {tag}" for tag in view.tags)),
        at=view.at,
    )


def _once(found: Iterable[Finding]) -> list[Finding]:
    """Each entry once, by the gravest of what was found of it."""
    best: dict[str, Finding] = {}
    for one in found:
        known = best.get(one.id)
        if known is None or LEVELS.index(one.level) > LEVELS.index(known.level):
            best[one.id] = one
    return list(best.values())


def _is_stale(finding: Finding) -> bool:
    return any(item.startswith("tagged stale") for item in finding.evidence)


def _awake(project: Project, found: Sequence[Finding]) -> tuple[list[Finding], list[str]]:
    """What this person did not snooze, and a line for each that was."""
    asleep = snoozing.active(project.config.project, project.now) if found else []
    if not asleep:
        return list(found), []
    me = person(project)
    mine = [one for one in asleep if one.by == me]
    kept, lines = [], []
    for one in found:
        cover = next((snooze for snooze in mine if snooze.covers(one.id, one.files)), None)
        if cover is None:
            kept.append(one)
        else:
            until = format_instant(cover.until)[:16].replace("T", " ")
            lines.append(f"{one.short} is snoozed until {until} UTC ({cover.why}): {one_line(one.text, 80)}")
    return kept, lines


def person(project: Project) -> str:
    """Who a snooze belongs to: the name that git knows in this project."""
    from backstory.errors import BackstoryError
    from backstory.sources.git.blobs import user_name

    try:
        return (user_name(project.root) or "")[:100]
    except BackstoryError:
        return ""


def _unknown(project: Project, names: dict[str, str], found: Sequence[Finding]) -> Iterable[str]:
    """The paths that no entry of any standing is about; the memory's own files are none."""
    spoken = {path for one in found for path in one.files}
    for path, now in names.items():
        query = "SELECT 1 FROM entry_files WHERE path = ? LIMIT 1"
        if path.startswith(f"{FOLDER}/"):
            continue
        if path not in spoken and project.db.execute(query, (now,)).fetchone() is None:
            yield path


def knows_what_was_backed_out(project: Project) -> bool:
    """Whether the history was read once in this work tree, or there is no git to read it from."""
    query = "SELECT EXISTS (SELECT 1 FROM index_meta WHERE key = 'history:reverts')"
    return not project.config.places.git_dir or bool(project.db.execute(query).fetchone()[0])


def _cut(asked: Sequence[str]) -> list[str]:
    """What is said of a change of more files than are looked at: no gate passes in silence."""
    most = recall_check.MAX_PATHS
    if len(asked) <= most:
        return []
    return [f"only {most:,} of {len(asked):,} files were looked at: run it again with the others named"]


def _problems(project: Project) -> list[str]:
    count = project.problem_count()
    if not count:
        return []
    what = "1 problem" if count == 1 else f"{count} problems"
    return [f"the log has {what}, so this may not be all: run `backstory verify`"]
