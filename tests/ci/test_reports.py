"""Findings as Markdown, SARIF and JUnit: complete, valid, and safe whatever somebody stored."""

import json
import re
from xml.etree import ElementTree

import pytest

from backstory.project.ci.reports import MARK, junit, markdown, sarif


class Finding:
    """As the check gives it."""

    def __init__(
        self, text: str, *, level: str = "warn", kind: str = "trial", why: str = "", files=(), evidence=()
    ) -> None:  # type: ignore[no-untyped-def]
        self.id, self.short, self.kind, self.level, self.text, self.why = (
            "01ABCDEFGH",
            "ABCDEFGH",
            kind,
            level,
            text,
            why,
        )
        self.files, self.evidence = tuple(files), tuple(evidence)


class Checked:
    """The answer of a check."""

    def __init__(self, *findings: Finding, problems: tuple[str, ...] = ()) -> None:
        self.findings, self.problems, self.unknown = findings, problems, ()


FULL = Checked(
    Finding(
        "this was tried and backed out",
        why="it deadlocked",
        files=["src/a b.py:10-20", "src/c.py"],
        evidence=["commit abc"],
    ),
    Finding("Use WAL mode", level="block", kind="decision", files=["src/c.py"]),
    Finding("a hot file", level="info", kind="hotfile"),
    problems=("2 lines of the log are damaged",),
)
HOSTILE = (
    "@alice see <script>alert(1)</script> [x](http://evil.example) ![p](https://evil.example/p.png) `code` **b** "
    "-->\n# head\x00\x1b[31m | cell | ~~s~~ $x$ &amp; www.evil.example ]]> \u202e"
)


def test_markdown_orders_by_level_and_names_why_files_and_evidence() -> None:
    text = markdown(FULL)
    assert text.startswith(MARK) and text.endswith("\n")
    assert text.index("**Stops**") < text.index("Use WAL mode") < text.index("**Warnings**") < text.index("backed out")
    assert "- Why: it deadlocked" in text and "`src/a b.py:10-20`" in text and "commit abc" in text
    assert "could not be read whole" in text and "2 lines of the log are damaged" in text
    assert "`backstory show ABCDEFGH`" in text
    quiet = markdown(Checked())
    assert "Nothing that was tried" in quiet and "could not be read" not in quiet


def test_stored_text_does_nothing_in_markdown() -> None:
    text = markdown(Checked(Finding(HOSTILE, why=HOSTILE, files=["a`b.py"], evidence=[HOSTILE]), problems=(HOSTILE,)))
    body = text.removeprefix(MARK)
    assert "alice" in body and "evil" in body
    assert "@alice" not in body and "://" not in body and "www.evil" not in body
    # Every mark that Markdown or HTML would act on is escaped or is one of ours.
    plain = body.replace("<!-- -->", "")
    assert not re.search(r"(?<!\\)[<>\[\]!|~$]", plain)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", plain)
    assert not [line for line in plain.splitlines() if line.startswith("# head")]


def test_sarif_has_what_its_readers_ask_for() -> None:
    log = json.loads(json.dumps(sarif(FULL, "1.2.3")))
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("backstory", "1.2.3")
    rules = [rule["id"] for rule in driver["rules"]]
    assert rules == ["backstory/decision", "backstory/hotfile", "backstory/trial"]
    assert [result["level"] for result in run["results"]] == ["warning", "error", "note"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"] and result["locations"] and result["partialFingerprints"]
    first = run["results"][0]["locations"][0]["physicalLocation"]
    assert first["artifactLocation"] == {"uri": "src/a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert first["region"] == {"startLine": 10, "endLine": 20}
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "damaged" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    calm = sarif(Checked(), "1")["runs"][0]
    assert calm["results"] == [] and calm["invocations"] == [{"executionSuccessful": True}]


def test_junit_fails_for_warnings_and_errs_for_a_damaged_memory() -> None:
    suite = ElementTree.fromstring(junit(FULL))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "2", "errors": "1", "skipped": "0",
    }  # fmt: skip
    assert len(suite.findall("testcase")) == 4 and len(suite.findall("testcase/failure")) == 2
    failure = suite.find("testcase/failure")
    assert failure is not None and "why: it deadlocked" in (failure.text or "")
    calm = ElementTree.fromstring(junit(Checked()))
    assert calm.get("failures") == "0" and len(calm.findall("testcase")) == 1


@pytest.mark.parametrize("odd", [HOSTILE, "\ud800 lone", "\x00\x01", "]]>", "a\ufffeb", "x" * 100_000])
def test_any_stored_text_makes_valid_xml_and_json(odd: str) -> None:
    checked = Checked(Finding(odd or "x", why=odd, files=[odd]), problems=(odd,))
    text = junit(checked)
    assert ElementTree.fromstring(text.encode("utf-8")).get("tests") == "2"
    json.dumps(sarif(checked, "1")).encode("ascii")
    markdown(checked).encode("utf-8")


def test_our_own_junit_is_read_back_by_our_own_reader() -> None:
    from backstory.project.ci.junit import parse

    assert sorted(result.state for result in parse(junit(FULL).encode(), "x")) == [
        "failed",
        "failed",
        "failed",
        "passed",
    ]
