"""Takes the entries of one import through the gateway and appends them together.

Promise: each entry is refused, dropped, found to be known or written exactly as the gateway alone would do it, one
after the other; only the appends are shared. What waits counts as written for what comes after it. Either all of a
batch is in the log or nothing of it. A dry run takes the same way and appends nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.index.folding import value_hash, value_of
from backstory.project import gateway
from backstory.project.gateway import Outcome
from backstory.project.opened import Project
from backstory.records.codec import Fields, canonical
from backstory.records.event import LINE_LIMIT, By, Entry

# CPU seconds of 1,142 entries by the size of a batch: 7.1 at 1, 2.6 at 20, 2.4 at 100, 2.2 at 500, 1.9 at 2,000.
_MOST = 500
# What sealing adds to a line: two hashes, the shard, branch and commit.
_SEAL_BYTES = 1_024


class Batch:
    """Entries by `by` on their way into the log. Call `flush` at the end; `take` does it whenever many wait."""

    def __init__(self, project: Project, by: By, *, dry_run: bool = False) -> None:
        self.project, self.by, self.dry_run = project, by, dry_run
        self._waiting: list[Fields] = []
        self._by_value: defaultdict[str, list[Entry]] = defaultdict(list)
        self._issues: set[str] = set()

    def take(self, kind: str, fields: dict[str, Any]) -> Outcome:
        """What becomes of an entry: recorded, known or dropped. `BackstoryError` when it is refused, the rest stays.

        The note of one that is recorded says why it is held back for a person.
        """
        case = str(fields.get("issue", "")) if fields.get("issue") in self._issues else ""
        given = {name: value for name, value in fields.items() if name != "issue"} if case else fields
        made = gateway.examine(self.project, self.by, kind, given, twin=self._twin, case=case)
        if isinstance(made, Outcome):
            return made
        if made.twin:
            return Outcome("known", made.twin, kind, "", made.redacted)
        _refuse_too_long(made.fields)
        self.expect(made.entry)
        self._waiting.append(made.fields)
        if len(self._waiting) >= _MOST:
            self.flush()
        held = (str(made.fields["held"]),) if made.fields.get("held") else ()
        return Outcome("recorded", made.entry.id, kind, "proposed", made.redacted, notes=held)

    def expect(self, entry: Entry) -> None:
        """Hold what comes against an entry too that the index does not know yet."""
        self._by_value[value_hash(value_of(entry))].append(entry)
        if entry.kind == "issue":
            self._issues.add(entry.id)

    def flush(self) -> None:
        """Append what waits and bring the index up to date; a dry run goes on to remember it."""
        if self.dry_run:
            return
        if self._waiting:
            gateway.write(self.project, [gateway.placed(self.project, fields) for fields in self._waiting])
        self._waiting = []
        self._by_value.clear()
        self._issues.clear()

    def _twin(self, entry: Entry) -> str:
        others = () if entry.supersedes else self._by_value.get(value_hash(value_of(entry)), ())
        same = (other for other in others if other.kind == entry.kind and gateway.adds_nothing(entry, other))
        return next((other.id for other in same), "")


def _refuse_too_long(fields: Fields) -> None:
    """One line that is too long must not cost the whole batch."""
    size = len(canonical(fields)) + _SEAL_BYTES
    if size > LINE_LIMIT:
        raise BackstoryError(
            f"Nothing was written: the event has {size:,} bytes and a line holds {LINE_LIMIT:,}.",
            hint="Shorten the detail, or cite a file that holds the long text.",
            code=Exit.REFUSED,
        )
