"""`docs/acceptance.md` is not older than the tests: it names each demand and each test, and nothing else."""

import re

import pytest

from tests.acceptance import catalogue
from tools import acceptance

TEXT = acceptance.PAGE.read_text(encoding="utf-8")
_TEST = re.compile(r"`(test_\w+\.py::test_\w+)`")


def rows() -> dict[str, str]:
    """The rows of the table of demands by id."""
    found = (line.split(" | ") for line in TEXT.splitlines() if re.match(r"\| [a-z]+\.\w+ \|", line))
    return {cells[0].removeprefix("| "): " | ".join(cells) for cells in found}


def test_each_demand_has_a_row_with_its_words_and_its_tests() -> None:
    every, found = list(catalogue.tests()), rows()
    assert list(found) == [demand.id for demand in catalogue.DEMANDS]
    for demand in catalogue.DEMANDS:
        tests = catalogue.of_demand(demand.id, every)
        assert _TEST.findall(found[demand.id]) == tests, f"{demand.id}: run `make acceptance`"
        assert demand.demand in found[demand.id] and demand.control in found[demand.id]
        assert bool(tests) != (demand.id in catalogue.NOT_RUN), demand.id


def test_every_test_is_named_and_no_other() -> None:
    assert set(_TEST.findall(TEXT)) == set(catalogue.tests()), "run `make acceptance`"


def test_what_is_not_run_says_why_and_how_to_run_it() -> None:
    for id_, (why, recipe) in catalogue.NOT_RUN.items():
        assert f"not run: {why}" in rows()[id_] and recipe in TEXT


def test_nothing_failed_when_the_page_was_written() -> None:
    outcomes = [line.rsplit(" | ", 1)[1].rstrip(" |") for line in rows().values()]
    assert all(re.fullmatch(r"passed( \(\d+ cases\))?|not run: [a-z ]+", outcome) for outcome in outcomes), outcomes
    assert len(re.findall(r"^- `test_.*: (?!passed)", TEXT, re.MULTILINE)) == 0


@pytest.mark.parametrize("prefix", sorted({demand.id.partition(".")[0] for demand in catalogue.DEMANDS}))
def test_a_test_that_is_named_like_a_demand_belongs_to_one(prefix: str) -> None:
    every = [test for test in catalogue.tests() if f"::test_{prefix}_" in test]
    of_some = {test for demand in catalogue.DEMANDS for test in catalogue.of_demand(demand.id, every)}
    assert every and set(every) - of_some == set()


def test_the_reader_of_a_run_takes_the_worst_case_and_what_each_asked(tmp_path: object) -> None:
    run = f"{tmp_path}/run.xml"
    case = '<testcase classname="tests.acceptance.test_x" name="test_a[{}]">{}{}</testcase>'
    noted = '<properties><property name="doors" value="[[&quot;CLI&quot;, &quot;{}&quot;]]"/></properties>'
    cases = case.format(1, noted.format("why"), "") + case.format(2, noted.format("show"), "<failure/>")
    with open(run, "w", encoding="utf-8") as file:
        file.write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    (found,) = acceptance.results([acceptance.Path(run)]).items()
    assert found == ("test_x.py::test_a", (2, "failed", frozenset({("CLI", "why"), ("CLI", "show")})))
