"""Whether an edit is refused: the whole check, for the few projects that ask for it."""

from __future__ import annotations

from collections.abc import Sequence

from backstory.config import Places, read_marker
from backstory.project import refresh
from backstory.project.changes import Changes
from backstory.project.checking import check
from backstory.recall.check import LEVELS
from backstory.records.likeness import line_hashes


def reasons(places: Places, paths: Sequence[str], added: str, level: str, now: int) -> list[tuple[str, str]]:
    """(id, reason) of each finding at the level or above; what this person snoozed is none."""
    config = read_marker(places)
    with refresh.open_config(config, now=now, seconds=config.settings.hook_seconds) as project:
        given = Changes(tuple(paths), line_hashes(added.splitlines()))
        found = check(project, paths, changes=given, others=False)
    grave = [one for one in found.findings if LEVELS.index(one.level) >= LEVELS.index(level)]
    return [(one.id, f"{one.text} [{one.short}]{f': {one.why}' if one.why else ''}") for one in grave]
