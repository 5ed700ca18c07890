"""How often the detectors of capture are right, and how much of what there is they find, on sessions of real people.

`capture_labels.tsv` holds what was judged: transcript (below the folder `transcripts` of the data beside the checkout,
`../shared/data` or BENCH_DATA), kind, byte where it begins, the judgement of a first and of a second pass, and what
stands where the two disagreed. The pool that was judged is far wider than what detectors give (`capture_pool.py`). Half
of the transcripts, by a hash of their names, are held out: no detector was tuned on them.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from backstory.project.capture.detectors import known as detectors
from backstory.records.event import BY_ITSELF
from benchmarks import capture_pool as pool
from benchmarks.bench import ROOT, Bench
from benchmarks.measure import Failed
from benchmarks.report import Part, Row

LABELS = Path(__file__).with_name("capture_labels.tsv")
ACTIVE_BAR, PROPOSED_BAR = 95, 75


class Label(NamedTuple):
    """What people said of an item."""

    first: str
    second: str
    final: bool


Key = tuple[str, str, int]


def labels() -> dict[Key, Label]:
    """The judgements by transcript, kind and place."""
    found = {}
    with LABELS.open(encoding="utf-8", newline="") as file:
        for file_, kind, offset, first, second, final in csv.reader(file, delimiter="\t"):
            found[file_, kind, int(offset)] = Label(first, second, final == "y")
    return found


class _Count:
    """What one detector gave on one half."""

    def __init__(self) -> None:
        self.given = self.right = self.unjudged = 0


def measure(bench: Bench) -> Part:
    """Precision of each detector on both halves, recall by kind."""
    folder = Path(os.environ.get("BENCH_DATA") or ROOT.parent / "shared" / "data") / "transcripts"
    if not folder.is_dir():
        raise Failed(f"there are no transcripts in {folder}")
    known = labels()
    counts: dict[tuple[str, bool], _Count] = {}
    hits: Counter[tuple[str, bool]] = Counter()
    sessions = {key[0] for key in known}
    for file, client, path in pool.transcripts(folder):
        if file in sessions:
            _session(file, client, path, known, counts, hits)
    part = Part(
        "Capture",
        f"{len(known)} candidates from {len(sessions)} transcripts of real people and clients were judged twice"
        f" (`benchmarks/capture_labels.tsv`). The two passes disagreed on {_disagreed(known)}; these were looked at a"
        " third time. A detector is right where the judgement is yes. Recall is of all that was judged worth keeping in"
        " the pool, which rules far wider than the detectors gathered; no session is cut to five here.",
    )
    for held in (False, True):
        part.rows += _rows(counts, known, hits, held)
    part.notes.append(_listed(known))
    return part


def _session(
    file: str, client: str, path: Path, known: dict[Key, Label], counts: dict[tuple[str, bool], _Count],
    hits: Counter[tuple[str, bool]],
) -> None:  # fmt: skip
    held = pool.held_out(file)
    found: set[Key] = set()
    for candidate in detectors.all_of(pool.story(client, path)):
        kind = pool.OF_DETECTOR[candidate.detector]
        key = (file, kind, candidate.evidence[0].offset)
        count = counts.setdefault((candidate.detector, held), _Count())
        label = known.get(key)
        if label is None:
            count.unjudged += 1
            continue
        count.given += 1
        count.right += label.final
        if label.final and key not in found:
            found.add(key)
            hits[kind, held] += 1


def _rows(
    counts: dict[tuple[str, bool], _Count], known: dict[Key, Label], hits: Counter[tuple[str, bool]], held: bool
) -> list[Row]:
    half = "held out" if held else "tuned on"
    rows = []
    for groups, bar in ((True, ACTIVE_BAR), (False, PROPOSED_BAR)):
        mine = {name: one for (name, side), one in counts.items() if side == held and (name in BY_ITSELF) == groups}
        what = "active by themselves" if groups else "proposed"
        given, right = sum(one.given for one in mine.values()), sum(one.right for one in mine.values())
        if given:
            row = Row(f"{half}: precision of what is {what} ({right} of {given})", "%", f">= {bar}")
            row.measured[len(known)] = 100 * right / given
            rows.append(row)
        for name, one in sorted(mine.items()):
            row = Row(f"{half}: `{name}`, {one.right} right of {one.given}", "%")
            row.measured[len(known)] = 100 * one.right / max(1, one.given)
            rows.append(row)
    for kind in (pool.DECISION, pool.MENDED, pool.UNDONE, pool.REFUSED, pool.ISSUE):
        there = sum(label.final for key, label in known.items() if key[1] == kind and pool.held_out(key[0]) == held)
        if there:
            row = Row(f"{half}: recall of {kind} ({hits[kind, held]} of {there})", "%")
            row.measured[len(known)] = 100 * hits[kind, held] / there
            rows.append(row)
    return rows


def _disagreed(known: dict[Key, Label]) -> int:
    return sum(label.first != label.second for label in known.values())


def _listed(known: dict[Key, Label]) -> str:
    """The disagreements, for who wants to look at them."""
    places = [
        f"{Path(file).name}@{offset} ({kind}: {label.first}/{label.second}, {'y' if label.final else 'n'})"
        for (file, kind, offset), label in sorted(known.items())
        if label.first != label.second
    ]
    return f"Disagreements: {'; '.join(places)}." if places else "The two passes agreed on everything."
