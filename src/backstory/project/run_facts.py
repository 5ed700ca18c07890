"""What git and the clock know about a run, at its start and at its end, and what they do not know, in words."""

from __future__ import annotations

from typing import NamedTuple

from backstory.config import FOLDER
from backstory.project.opened import Project
from backstory.sources.frontmatter import Given
from backstory.sources.git.head import head_id, in_progress
from backstory.sources.git.since import Change, changed_since
from backstory.sources.run_records import RunRecord
from backstory.sources.ticket_places import shown

SECOND = 1_000_000
MINUTE = 60 * SECOND
_START_SECONDS = 20.0
_MANY_FILES = 1_000


class Facts(NamedTuple):
    """Fields of a run record with their values, the files that differ, and notes."""

    fields: dict[str, Given] = {}  # noqa: RUF012 (never changed: read by its users)
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def base_facts(project: Project, own: set[str]) -> Facts:
    """The start, to the second, and the commit that the work starts from. `own` as for `end_facts`."""
    places = project.config.places
    fields: dict[str, Given] = {"started_at": project.now // SECOND * SECOND}
    if not places.git_dir:
        return Facts(fields, (), ("there is no git here: base_commit stays empty, and files will not be counted",))
    head = head_id(places.git_dir, places.common_dir, project.root)
    if not head:
        return Facts(fields, (), ("there is no commit yet: base_commit stays empty, and files will not be counted",))
    notes = []
    if state := in_progress(places.git_dir):
        notes.append(f"git is in the middle of a {state}: the base commit is where HEAD stands now")
    since = changed_since(project.root, head, timeout=_START_SECONDS)
    files = [change.path for change in since.changes if not _is_own(change, own)]
    if files:
        what = "1 file differs" if len(files) == 1 else f"{len(files):,} files differ"
        notes.append(f"{what} from the base commit already and will count; commit or stash what is not of this run")
    return Facts(fields | {"base_commit": head}, (), tuple(notes))


def end_facts(project: Project, record: RunRecord, stated: frozenset[str], own: set[str]) -> Facts:
    """The end, the minutes since the start, and the files that differ from the base commit.

    What the record has `stated` is not looked for. `own` are the paths of the ticket and its run records, which do not
    count, nor does the memory itself.
    """
    end = project.now // SECOND * SECOND
    fields: dict[str, Given] = {"ended_at": end}
    notes: list[str] = []
    if "actual_minutes" not in stated:
        if record.started_at is None:
            notes.append("no start is known: actual_minutes stays empty")
        elif end < record.started_at:
            notes.append("the start lies in the future: actual_minutes stays empty")
        else:
            fields["actual_minutes"] = _minutes(end - record.started_at)
    if "actual_files" in stated:
        return Facts(fields, (), tuple(notes))
    files, more = _files(project, record, own)
    if files is not None:
        fields["actual_files"] = len(files)
    return Facts(fields, files or (), (*notes, *more))


def _minutes(micros: int) -> float:
    """Minutes, with one digit behind the point below ten."""
    minutes = micros / MINUTE
    return round(minutes) if minutes >= 10 or round(minutes, 1).is_integer() else round(minutes, 1)


def _files(project: Project, record: RunRecord, own: set[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The files that differ, or None where that could not be found out; and notes."""
    empty = "actual_files stays empty"
    if not project.config.places.git_dir:
        return None, (f"there is no git here: {empty}",)
    if not record.base_commit:
        return None, (f"no base commit is known: {empty}",)
    since = changed_since(project.root, record.base_commit)
    if since.why:
        return None, (f"{since.why}: {empty}",)
    files = tuple(shown(change.path) for change in since.changes if not _is_own(change, own))
    notes = list(since.notes)
    if len(files) > _MANY_FILES:
        notes.append(f"{len(files):,} files differ; what is not work belongs into .gitignore")
    return files, tuple(notes)


def _is_own(change: Change, own: set[str]) -> bool:
    """Whether a change is that of the ticket, its run record, or the memory; also where they were moved from."""
    names = {change.path, change.old}
    if names.intersection(own) or change.path.startswith(f"{FOLDER}/"):
        return True
    return change.gone and _tail(change.path) in {_tail(path) for path in own}


def _tail(path: str) -> str:
    """What stays of a path when a ticket is moved to another folder: its name, and of `ticket.md` its folder's too."""
    folder, _, name = path.rpartition("/")
    return f"{folder.rpartition('/')[2]}/{name}" if name.lower() in ("ticket.md", "run.md") else name
