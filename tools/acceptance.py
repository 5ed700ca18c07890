"""Run the acceptance tests and write `docs/acceptance.md` from what they did.

    python tools/acceptance.py                  run them, then write the page
    python tools/acceptance.py --from RUN.xml   write it from runs that were made already, as JUnit files; of a test
                                                that two of them have, what the later one says

The page holds no date, duration or place, so the same tests with the same results give the same page. Exit code 1 if a
test failed or was not run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "acceptance.md"
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.acceptance import catalogue, doors  # noqa: E402

PASSED, FAILED, SKIPPED, MISSING = "passed", "failed", "skipped", "not run"
_ORDER = (MISSING, FAILED, SKIPPED, PASSED)
_PAINS = "test_pains"
_HEAD = """\
# What is tested from outside

A public survey of agent memories asks for tests that a memory has to pass to be correctable. They are restated here,
and run over every surface that can show the thing. `make acceptance` writes this page from a run; do not edit it.

All there is to ask: {doors}.
A door that answers people and programs counts once.{web} Each test holds a positive control, so that a memory that
returns nothing fails it.

| id | what it demands | control | tests | asked | result |
|---|---|---|---|---|---|
"""
_TAMPERING = """\
Content, tail cut, middle deletion, reordering, forged insertion, replay from another project, replay of an older line,
metadata, rollback of the whole store: each is reported to every reader. An untouched store is reported to none.
"""


class Result(NamedTuple):
    """What became of the cases of one test function: how many, the worst of them, and what they asked."""

    cases: int
    outcome: str
    asked: frozenset[tuple[str, str]]


def run(folder: Path) -> Path:
    """The acceptance tests, all of them; the JUnit file of the run."""
    out = folder / "run.xml"
    command = [sys.executable, "-m", "pytest", "tests/acceptance", "-q", "-n", "auto", f"--junitxml={out}"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONUTF8": "1"}, check=False)
    return out


def results(files: Iterable[Path]) -> dict[str, Result]:
    """The result of each test function, `file::function`, over all of its cases."""
    every: dict[str, Result] = {}
    for path in files:
        found: dict[str, Result] = {}
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            module = case.get("classname", "").rpartition(".")[2]
            name = f"{module}.py::{case.get('name', '').partition('[')[0]}"
            tags = {child.tag for child in case}
            outcome = FAILED if tags & {"failure", "error"} else SKIPPED if "skipped" in tags else PASSED
            noted = [item.get("value", "[]") for item in case.iter("property") if item.get("name") == "doors"]
            asked = frozenset((group, door) for text in noted for group, door in json.loads(text))
            old = found.get(name, Result(0, PASSED, frozenset()))
            worst = min(outcome, old.outcome, key=_ORDER.index)
            found[name] = Result(old.cases + 1, worst, old.asked | asked)
        every |= found
    return every


def page(found: dict[str, Result]) -> str:
    """The whole page."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: dict[str, Result]) -> Iterator[str]:
    every = list(catalogue.tests())
    everything = _all_doors()
    web = "" if f"{doors.WEB} " in everything else " The web page is not asked yet."
    yield from _HEAD.format(doors=everything, web=web).splitlines()
    for demand in catalogue.DEMANDS:
        yield _row(demand, catalogue.of_demand(demand.id, every), found)
    yield from ["", "## Not run here", ""]
    yield from (f"**{id_}**: {why}. {recipe}" for id_, (why, recipe) in catalogue.NOT_RUN.items())
    yield from ["", "## Seven properties at once", ""]
    yield f"`{catalogue.TOGETHER}`: {_result([catalogue.TOGETHER], found)}. It shows them in one store. Each apart:"
    yield ""
    yield from (f"- {name}: {', '.join(ids)}" for name, ids in catalogue.PROPERTIES.items())
    yield from ["", "## Edits behind the store's back", "", *_TAMPERING.splitlines(), ""]
    yield from _listed(catalogue.TAMPERING, found)
    yield from ["", "## Faults that users of such memories reported", ""]
    pains = [test for test in every if test.startswith(_PAINS)]
    yield from _listed(pains, found)
    yield from ["", "## The rest", ""]
    named = {test for demand in catalogue.DEMANDS for test in catalogue.of_demand(demand.id, every)}
    named |= {*pains, *catalogue.TAMPERING, catalogue.TOGETHER}
    yield from _listed([test for test in every if test not in named], found)


def _listed(tests: Iterable[str], found: dict[str, Result]) -> Iterator[str]:
    return (f"- `{test}`: {_result([test], found)}" for test in tests)


def _row(demand: catalogue.Demand, tests: list[str], found: dict[str, Result]) -> str:
    asked = {door for test in tests if test in found for door in found[test].asked}
    result = f"not run: {catalogue.NOT_RUN[demand.id][0]}" if demand.id in catalogue.NOT_RUN else _result(tests, found)
    names = "<br>".join(f"`{test}`" for test in tests) or "none"
    return (
        f"| {demand.id} | {demand.demand} | {demand.control} | {names} | {doors.counted(asked) or 'none'} | {result} |"
    )


def _result(tests: list[str], found: dict[str, Result]) -> str:
    """The worst outcome of the tests, with the number of cases where there are more than one."""
    outcomes = [found[test].outcome if test in found else MISSING for test in tests]
    cases = sum(found[test].cases for test in tests if test in found)
    worst = min(outcomes, key=_ORDER.index, default=MISSING)
    return f"{worst} ({cases} cases)" if cases > 1 else worst


def _all_doors() -> str:
    from tests.acceptance.surfaces import SURFACES
    from tests.acceptance.writers import WRITERS

    ways = ((doors.WAYS, writer.name) for writer in WRITERS)
    return doors.counted([*(doors.of_surface(surface.name) for surface in SURFACES), *ways])


def main(arguments: list[str]) -> int:
    """Parse the arguments, run the tests where that is asked, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(name) for name in arguments[1:]] if arguments[:1] == ["--from"] else [run(Path(folder))]
        if missing := [str(path) for path in files if not path.is_file()]:
            print(f"There is no run in {', '.join(missing)}.", file=sys.stderr)
            return 2
        found = results(files)
    PAGE.write_text(page(found), encoding="utf-8", newline="\n")
    expected = set(catalogue.tests())
    bad = sorted(test for test in expected if test not in found or found[test].outcome in (FAILED, MISSING))
    print(f"Written: {PAGE.relative_to(ROOT)}. " + (f"Not passed: {', '.join(bad)}" if bad else "All passed."))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
