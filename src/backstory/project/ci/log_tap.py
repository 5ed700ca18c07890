"""TAP, the Test Anything Protocol, with the subtests of its two dialects: in braces, and under `# Subtest:`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.ci.results import FAILED, PASSED, SKIPPED, Result

_LINE = re.compile(r"^( *)(not )?ok\b(?: +(\d+))?(?: +-)? *([^#{]*)(?:# *(TODO|SKIP)?[^{]*)?(\{)?$", re.IGNORECASE)
_SUBTEST = re.compile(r"^( *)# Subtest: (.+)$")
_PLAN = re.compile(r"^(?:TAP version \d+|1\.\.\d+.*)$")
_JOINT = " > "


class _Open:
    """A test that others may stand in; `parent` once one does."""

    def __init__(self, indent: int, name: str, *, parent: bool = False) -> None:
        self.indent, self.name, self.parent = indent, name, parent


def tap(lines: list[str]) -> Iterator[Result]:
    """`ok 1 - name` and `not ok 2 - name`, only in a log with a plan or a version line. Parents are left out."""
    if not any(_PLAN.match(line) for line in lines):
        return
    above: list[_Open] = []
    for line in lines:
        if found := _SUBTEST.match(line):
            above = [*_outside(above, len(found[1])), _Open(len(found[1]), found[2].strip())]
        elif (found := _LINE.match(line)) and (found[3] or found[4]):
            indent, name = len(found[1]), found[4].strip() or f"test {found[3]}"
            own = next((one for one in above if one.indent == indent and one.name == name), None)
            above = _outside(above, indent)
            if found[6]:
                above = [*above, _Open(indent, name, parent=True)]
            elif own is None or not own.parent:
                for one in above:
                    one.parent = True
                state = SKIPPED if found[5] else FAILED if found[2] else PASSED
                yield Result(_JOINT.join([*(one.name for one in above), name]), state)


def _outside(above: list[_Open], indent: int) -> list[_Open]:
    return [one for one in above if one.indent < indent]
