"""Reports of test runs: JUnit XML from many tools and from nobody's friend, and logs that real tools wrote."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project.ci import junit, logs, results
from backstory.project.ci.results import FAILED, PASSED, SKIPPED, Result, read_report, settled

JUNIT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="5">
<testcase classname="tests.test_shop.TestBuy" name="test_one[a&amp;b]" time="0.1" />
<testcase classname="tests.test_shop" name="test_two" file="tests/test_shop.py" line="3">
 <failure message="assert 1 == 2">def test_two():
&gt;  assert 1 == 2<![CDATA[ <raw> ]]></failure>
 <system-out>noise</system-out></testcase>
<testcase classname="tests.test_shop" name="test_three"><error type="ValueError">ValueError: odd
 more</error></testcase>
<testcase classname="tests.test_shop" name="test_four"><skipped message="later"/></testcase>
<testcase classname="tests.test_shop" name="test_five"><rerunFailure message="once"/><flakyFailure/></testcase>
</testsuite></testsuites>
"""


def states(found: list[Result]) -> dict[str, str]:
    return {result.name + (" (all)" if result.group else ""): result.state for result in found}


def test_junit_tells_what_failed_and_why() -> None:
    found = junit.parse(JUNIT.encode(), "x.xml")
    assert states(found) == {
        "tests.test_shop.TestBuy.test_one[a&b]": PASSED,
        "tests.test_shop.test_two": FAILED,
        "tests.test_shop.test_three": FAILED,
        "tests.test_shop.test_four": SKIPPED,
        "tests.test_shop.test_five": PASSED,
    }
    two, three = found[1], found[2]
    assert (two.message, two.file) == ("assert 1 == 2", "tests/test_shop.py")
    assert "<raw>" in two.detail and "noise" not in two.detail
    assert three.message == "ValueError" and "more" in three.detail


def test_suites_in_suites_and_names_that_repeat_their_class() -> None:
    text = (
        '<testsuite name="out"><testsuite name="in" file="src/a.test.ts">'
        '<testcase classname="Shop buys" name="Shop buys apples"><failure/></testcase>'
        '<testcase name=""/></testsuite></testsuite>'
    )
    one, two = junit.parse(text.encode(), "x.xml")
    assert (one.name, one.file, one.state) == ("Shop buys apples", "src/a.test.ts", FAILED)
    assert two.name == "in"


HOSTILE = {
    "entities": '<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><testsuites>&b;</testsuites>',
    "a file": '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuites>&x;</testsuites>',
    "a plain type": "<!DOCTYPE testsuites><testsuites/>",
    "not closed": "<testsuites><testsuite>",
    "another root": "<html><testcase name='a'/></html>",
    "an unknown entity": "<testsuites>&nope;</testsuites>",
    "no known encoding": '<?xml version="1.0" encoding="x-none"?><testsuites/>',
    "a NUL": "<testsuites>\0</testsuites>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_or_broken_xml_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(text)
    with pytest.raises(BackstoryError) as raised:
        read_report(str(path))
    assert str(path) in raised.value.message and raised.value.hint
    path.write_text('<testsuites><testcase name="a"/></testsuites>')
    assert [result.name for result in read_report(str(path)).results] == ["a"]


def test_what_is_too_large_is_refused_or_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = f'<failure message="{"m" * 9000}">{"x" * 100_000}</failure>'
    [one] = junit.parse(f'<testsuite><testcase name="a">{failure}</testcase></testsuite>'.encode(), "x")
    assert len(one.message) == results.MESSAGE_LIMIT and len(one.detail) == results.DETAIL_LIMIT
    monkeypatch.setattr(junit, "MOST_TESTS", 3)
    junit.parse(b"<testsuite>" + b'<testcase name="a"/>' * 3 + b"</testsuite>", "x")
    with pytest.raises(BackstoryError, match="more than 3 tests"):
        junit.parse(b"<testsuite>" + b'<testcase name="a"/>' * 4 + b"</testsuite>", "x")
    monkeypatch.setattr(results, "MAX_BYTES", 10)
    path = tmp_path / "x.xml"
    path.write_text("<testsuite/>")
    with pytest.raises(BackstoryError, match="12 bytes; 10 is the limit"):
        read_report(str(path))


def test_a_missing_file_and_a_file_without_tests_are_told(tmp_path: Path) -> None:
    with pytest.raises(BackstoryError, match="cannot be read"):
        read_report(str(tmp_path / "none"))
    (tmp_path / "prose.log").write_text("It works.\nok then\nPASS the salt\n")
    with pytest.raises(BackstoryError, match="no test result") as raised:
        read_report(str(tmp_path / "prose.log"))
    assert "cargo test" in raised.value.hint


def test_a_failure_outweighs_a_pass_and_a_reason_outweighs_none() -> None:
    one = Result("a", FAILED, "why")
    assert settled([Result("a", PASSED), Result("a", FAILED), one, Result("a", SKIPPED)]) == [one]
    assert settled([Result("a", SKIPPED), Result("a", PASSED)]) == [Result("a", PASSED)]


# --- logs of tools that are at hand, written by them now ---------------------------------------------------------

TESTS = """\
import unittest
class TestShop(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self): self.assertEqual(1, 2)
    def test_odd(self): raise ValueError("odd: thing")
    @unittest.skip("later")
    def test_later(self): pass
"""


def _outside() -> dict[str, str]:
    """The environment without what the run of tests around this one says of itself: a worker's name, its test."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def ran(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={**_outside(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "test_shop.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    return tmp_path


def test_pytests_own_logs_are_read(shop: Path) -> None:
    bad, odd = "test_shop.py::TestShop::test_bad", "test_shop.py::TestShop::test_odd"
    form, found = logs.parse(ran(shop, "-m", "pytest", "-q"))
    assert (form, states(settled(found))) == ("pytest", {bad: FAILED, odd: FAILED})
    assert [result.message for result in found] == ["AssertionError: 1 != 2", "ValueError: odd: thing"]
    assert {result.file for result in found} == {"test_shop.py"}
    for options in (["-v"], ["-v", "-p", "xdist", "-n", "1"], ["-rA", "-q"], ["-v", "--color=yes"]):
        form, found = logs.parse(ran(shop, "-m", "pytest", *options))
        by_name = states(settled(found))
        assert form == "pytest" and by_name[bad] == by_name[odd] == FAILED, options
        assert by_name["test_shop.py::TestShop::test_good"] == PASSED, options
        assert {result.message for result in settled(found) if result.state == FAILED} >= {"ValueError: odd: thing"}


def test_pytests_own_junit_names_the_same_tests(shop: Path) -> None:
    ran(shop, "-m", "pytest", "-q", "--junitxml=out.xml")
    report = read_report(str(shop / "out.xml"))
    assert report.form == "junit"
    assert states(list(report.results)) == {
        "test_shop.TestShop.test_good": PASSED, "test_shop.TestShop.test_bad": FAILED,
        "test_shop.TestShop.test_odd": FAILED, "test_shop.TestShop.test_later": SKIPPED,
    }  # fmt: skip


def test_unittests_own_logs_are_read(shop: Path) -> None:
    form, found = logs.parse(ran(shop, "-m", "unittest", "-v"))
    assert form == "unittest"
    assert states(settled(found)) == {
        "test_shop.TestShop.test_good": PASSED, "test_shop.TestShop.test_bad": FAILED,
        "test_shop.TestShop.test_odd": FAILED, "test_shop.TestShop.test_later": SKIPPED,
    }  # fmt: skip
    assert {result.message for result in settled(found)} == {"", "AssertionError: 1 != 2", "ValueError: odd: thing"}
    _, found = logs.parse(ran(shop, "-m", "unittest"))
    assert {result.state for result in found} == {FAILED} and len(found) == 2


# --- logs as the other tools write them --------------------------------------------------------------------------

GO = """\
=== RUN   TestGood
--- PASS: TestGood (0.00s)
=== RUN   TestBad
    shop_test.go:12: got 1, want 2
--- FAIL: TestBad (0.00s)
    --- FAIL: TestBad/apples_and_pears (0.00s)
        shop_test.go:20: no pears
--- SKIP: TestLater (0.00s)
FAIL
FAIL	example.org/shop/buy	0.004s
ok  	example.org/shop/sell	0.003s
ok  	example.org/shop/cached	(cached)
?   	example.org/shop/none	[no test files]
FAIL
"""
CARGO = """\
running 3 tests
test cart::tests::adds ... ok
test cart::tests::fails ... FAILED
test src/lib.rs - cart (line 3) ... ok
test cart::tests::slow ... ignored

failures:

---- cart::tests::fails stdout ----

thread 'cart::tests::fails' (4711) panicked at src/cart.rs:14:9:
assertion `left == right` failed
  left: 1

failures:
    cart::tests::fails

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
JEST = """\
PASS src/sell.test.js
FAIL src/buy.test.js (5.1 s)
  the shop
    with apples
      \u2713 sells them (2 ms)
      \u2715 counts them (3 ms)
    \u25cb skipped closes

  \u25cf the shop \u203a with apples \u203a counts them

    expect(received).toBe(expected) // Object.is equality

    Expected: 2
Tests:       1 failed, 1 skipped, 1 passed, 3 total
"""
VITEST = """\
 RUN  v3.2.4 /home/x/shop

 \u2713 src/sell.test.ts (3 tests | 1 skipped) 4ms
 \u276f src/buy.test.ts (2 tests | 1 failed) 8ms
   \u2713 src/buy.test.ts > the shop > sells 1ms
   \u00d7 src/buy.test.ts > the shop > counts 5ms
     \u2192 expected 1 to be 2

 FAIL  src/buy.test.ts > the shop > counts
AssertionError: expected 1 to be 2 // Object.is equality
 Test Files  1 failed | 1 passed (2)
"""
TAP = """\
TAP version 13
1..5
ok 1 - sells apples
not ok 2 - counts apples
  ---
  message: nope
  ...
ok 3 - later # SKIP no pears
not ok 4 - one day # TODO
ok 5
"""
TAP_IN_BRACES = """\
TAP version 13
1..2
not ok 1 - src/buy.js # time=25.42ms {
    1..2
    ok 1 - sells # time=3.38ms
    not ok 2 - counts (all) # time=13.80ms
        ---
        error: nope
        ...
}
ok 2 - src/sell.js # time=10.82ms {
    1..1
    ok 1 - sells # SKIP
}
"""
MAVEN = """\
[INFO] Running org.shop.SellTest
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.03 s -- in org.shop.SellTest
[INFO] Running org.shop.BuyTest
[ERROR] Tests run: 2, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in org.shop.BuyTest
[ERROR] org.shop.BuyTest.counts -- Time elapsed: 0.012 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <2> but was: <1>
\tat org.shop.BuyTest.counts(BuyTest.java:12)
[ERROR] pays(org.shop.BuyTest)  Time elapsed: 0.01 s  <<< ERROR!
java.lang.NullPointerException
[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 0
"""
GRADLE = """\
> Task :test FAILED

BuyTest > sells() PASSED

org.shop.BuyTest > counts() FAILED
    org.opentest4j.AssertionFailedError at BuyTest.java:12

org.shop.BuyTest > Inner > later() SKIPPED

3 tests completed, 1 failed, 1 skipped
"""
LOGS = {
    "go test": (GO, {
        "example.org/shop/buy.TestGood": PASSED, "example.org/shop/buy.TestBad": FAILED,
        "example.org/shop/buy.TestBad/apples_and_pears": FAILED, "example.org/shop/buy.TestLater": SKIPPED,
        "example.org/shop/sell (all)": PASSED, "example.org/shop/cached (all)": PASSED,
    }, {"shop_test.go:12: got 1, want 2", "shop_test.go:20: no pears"}),
    "cargo test": (CARGO, {
        "cart::tests::adds": PASSED, "cart::tests::fails": FAILED, "src/lib.rs - cart (line 3)": PASSED,
        "cart::tests::slow": SKIPPED,
    }, {"assertion `left == right` failed"}),
    "jest": (JEST, {
        "src/sell.test.js (all)": PASSED,
        "src/buy.test.js \u203a the shop \u203a with apples \u203a sells them": PASSED,
        "src/buy.test.js \u203a the shop \u203a with apples \u203a counts them": FAILED,
        "src/buy.test.js \u203a the shop \u203a closes": SKIPPED,
    }, {"expect(received).toBe(expected) // Object.is equality"}),
    "vitest": (VITEST, {
        "src/sell.test.ts (all)": PASSED, "src/buy.test.ts > the shop > sells": PASSED,
        "src/buy.test.ts > the shop > counts": FAILED,
    }, {"AssertionError: expected 1 to be 2 // Object.is equality"}),
    "TAP": (TAP, {
        "sells apples": PASSED, "counts apples": FAILED, "later": SKIPPED, "one day": SKIPPED, "test 5": PASSED,
    }, {""}),
    "Maven": (MAVEN, {
        "org.shop.SellTest (all)": PASSED, "org.shop.BuyTest.counts": FAILED, "org.shop.BuyTest.pays": FAILED,
    }, {"org.opentest4j.AssertionFailedError: expected: <2> but was: <1>", "java.lang.NullPointerException"}),
    "Gradle": (GRADLE, {
        "BuyTest.sells()": PASSED, "org.shop.BuyTest.counts()": FAILED, "org.shop.BuyTest > Inner.later()": SKIPPED,
    }, {"org.opentest4j.AssertionFailedError at BuyTest.java:12"}),
}  # fmt: skip


@pytest.mark.parametrize("form", LOGS)
@pytest.mark.parametrize("dress", ["plain", "stamped", "coloured", "Windows"])
def test_the_log_of_each_tool_is_told_apart_and_read(form: str, dress: str) -> None:
    text, wanted, messages = LOGS[form]
    if dress == "stamped":
        text = "".join(f"2026-11-30T10:11:12.1234567Z {line}" for line in text.splitlines(keepends=True))
    elif dress == "coloured":
        text = "".join(f"\x1b[31m{line.rstrip()}\x1b[39m\n" for line in text.splitlines())
    elif dress == "Windows":
        text = text.replace("\n", "\r\n")
    found, read = logs.parse(text)
    read = settled(read)
    assert (found, states(read)) == (form, wanted)
    assert {result.message for result in read if result.state == FAILED} == messages


def test_subtests_in_tap_are_named_with_those_around_them(tmp_path: Path) -> None:
    assert states(list(logs.FORMS["TAP"](TAP_IN_BRACES.splitlines()))) == {
        "src/buy.js > sells": PASSED, "src/buy.js > counts (all)": FAILED, "src/sell.js > sells": SKIPPED,
    }  # fmt: skip
    node = (
        "TAP version 13\n# Subtest: the shop\n    # Subtest: sells\n    ok 1 - sells\n    # Subtest: counts\n"
        "    not ok 2 - counts\n    1..2\nnot ok 1 - the shop\n# Subtest: alone\nok 2 - alone\n1..2\n"
    )
    wanted = {"the shop > sells": PASSED, "the shop > counts": FAILED, "alone": PASSED}
    assert states(list(logs.FORMS["TAP"](node.splitlines()))) == wanted


def test_a_long_hostile_log_is_read_in_time() -> None:
    started = time.monotonic()
    for line in (
        "a" * 100_000,
        "(" * 5000 + "[" * 5000,
        "test " + "x " * 50_000,
        "FAILED " + "::" * 40_000,
        " > " * 30_000,
    ):
        logs.parse(f"1..2\n{line}\n" * 20)
    assert time.monotonic() - started < 20
