"""The watcher: looks at the work tree, counts edits, and proposes what churns. One step at a time, the clock passed in.

Promises: it writes nothing but proposed entries, through the gateway; one per file while an entry about it is known;
what it holds in memory is bounded. A change of HEAD, a merge under way, and many files at once are not edits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from backstory.config import Config
from backstory.errors import BackstoryError
from backstory.project.watching import tree
from backstory.project.watching.churn import Churn
from backstory.project.watching.settings import MOST_AT_ONCE, MOST_FILES, WatchSettings
from backstory.records.times import MICROS

NAME = "watch"
EDIT, PROPOSED, KNOWN, REFUSED, STARTED, ENDED = "edit", "proposed", "known", "refused", "started", "ended"


class Seen(msgspec.Struct, frozen=True):
    """Something that the watcher saw or did.

    `what`: started, edit (of `path`, so many `edits` within the window), proposed (`id` is the new entry), known (churn
    of a file with an entry, `id`), refused (why is in `text`), ended.
    """

    what: str
    path: str = ""
    edits: int = 0
    id: str = ""
    text: str = ""


Propose = Callable[[str, int], Seen]


class Watcher:
    """Watches one work tree. `look` and `content` are the tree's; `propose` takes a path and the time."""

    def __init__(
        self,
        settings: WatchSettings,
        *,
        look: Callable[[float], tree.Look | None],
        content: Callable[[str, str], tuple[str, str]],
        propose: Propose,
        most_files: int = MOST_FILES,
    ) -> None:
        self.churn = Churn(settings)
        self._look, self._content, self._propose, self._most = look, content, propose, most_files
        # By path: (stamp, content) as last seen.
        self._known: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._ground: str | None = None

    @property
    def remembered(self) -> int:
        """How many files are held in memory."""
        return len(self._known)

    def step(self, now: int) -> list[Seen]:
        """Look once, at `now` in microseconds; what was seen."""
        seconds = now / MICROS
        found = self._look(seconds)
        if found is None:
            return []
        for old, new in found.renames:
            self._moved(old, new)
        edited = [path for path in found.paths if self._was_edited(path)]
        quiet = found.busy or found.ground != self._ground or len(edited) > MOST_AT_ONCE
        self._ground = found.ground
        if quiet:
            return []
        return [seen for path in edited for seen in self._edited(path, now)]

    def _edited(self, path: str, now: int) -> list[Seen]:
        edits = self.churn.saved(path, now / MICROS)
        if not edits:
            return []
        seen = [Seen(EDIT, path, edits)]
        if self.churn.is_churn(edits):
            self.churn.forget(path)
            seen.append(self._propose(path, now))
        return seen

    def _was_edited(self, path: str) -> bool:
        """Whether a file holds something else than when it was last seen; it is remembered as it is now."""
        before = self._known.get(path, ("", ""))
        stamp, content = self._content(path, before[0])
        if not stamp:
            # Gone: for good, or for the moment between the two halves of a save.
            return False
        content = content or before[1]
        self._known[path] = stamp, content
        self._known.move_to_end(path)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return content != before[1]

    def _moved(self, old: str, new: str) -> None:
        """A new name is no edit, whatever was in the file when it got that name."""
        if new in self._known:
            return
        if old in self._known:
            self._known[new] = self._known.pop(old)
            self.churn.moved(old, new)
        self._was_edited(new)


def for_project(config: Config, settings: WatchSettings, session: str) -> Watcher:
    """The watcher of a project's work tree; `session` tells this run from others in what it writes."""
    places = config.places

    def content(path: str, known_stamp: str) -> tuple[str, str]:
        now = tree.stamp(places.root, path)
        return now, "" if not now or now == known_stamp else tree.content(places.root, path)

    return Watcher(
        settings,
        look=lambda seconds: tree.look(places, seconds),
        content=content,
        propose=lambda path, now: propose(config, settings, session, path, now),
    )


def propose(config: Config, settings: WatchSettings, session: str, path: str, now: int) -> Seen:
    """Propose `path` as a hot file, unless an entry says of it that it is, or was, one. Nothing is raised."""
    from backstory.project import authority, gateway
    from backstory.project.refresh import open_config

    summary = f"It was edited {settings.edits} times or more within {settings.minutes:g} minutes"
    try:
        with open_config(config, now=now) as project:
            row = project.db.execute(
                "SELECT e.id, e.standing FROM entries AS e CROSS JOIN entry_files AS f ON f.entry = e.entry"
                " WHERE e.kind = 'hotfile' AND (f.path = ?1 OR f.cited = ?1) ORDER BY e.last_at DESC, e.id LIMIT 1",
                (path,),
            ).fetchone()
            if row is not None:
                return Seen(KNOWN, path, settings.edits, str(row[0]), f"an entry about it is {row[1]}")
            by = authority.hook(NAME, session)
            outcome = gateway.record(project, by, "hotfile", {"summary": summary, "path": path})
    except BackstoryError as error:
        return Seen(REFUSED, path, settings.edits, text=f"{error.message} {error.hint}".strip())
    if outcome.status == "recorded":
        return Seen(PROPOSED, path, settings.edits, outcome.id, summary)
    return Seen(KNOWN, path, settings.edits, outcome.id, "; ".join(outcome.notes))
