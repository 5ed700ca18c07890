"""A check, written for the readers of continuous integration: Markdown, SARIF 2.1.0, JUnit XML.

Stored text is what somebody wrote: in Markdown it cannot mention anybody, link, load a picture or close a mark; in XML
it holds no character that XML does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from backstory.records.hostile import one_line

# By this a later run finds its own comment and replaces it.
MARK = "<!-- backstory check -->"
_LEVELS = {"info": "note", "warn": "warning", "block": "error"}
_TITLES = {"block": "Stops", "warn": "Warnings", "info": "Worth knowing"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!$])")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_PLACE = re.compile(r"^(.+?)(?::(\d+)(?:-(\d+))?|#[^#/]+)?$", re.DOTALL)


class Finding(Protocol):
    """What the check found: one entry that speaks about the change."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def short(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def level(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102
    @property
    def files(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def evidence(self) -> Sequence[str]: ...  # noqa: D102


class Checked(Protocol):
    """The answer of a check, as far as a report needs it."""

    @property
    def findings(self) -> Sequence[Finding]: ...  # noqa: D102
    @property
    def unknown(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def problems(self) -> Sequence[str]: ...  # noqa: D102


def markdown(checked: Checked) -> str:
    """A comment for a pull request. Begins with `MARK`."""
    lines = [MARK, "### What this project remembers about the change", ""]
    if checked.problems:
        lines += ["**The memory could not be read whole**, so this may not be all:", ""]
        lines += [*(f"- {plain(problem)}" for problem in checked.problems), ""]
    for level, title in _TITLES.items():
        found = [item for item in checked.findings if item.level == level]
        if found:
            lines += [f"**{title}**", "", *(line for item in found for line in _in_markdown(item)), ""]
    if not checked.findings:
        lines += ["Nothing that was tried, decided or found before speaks about it.", ""]
    return "\n".join(lines).rstrip() + "\n"


def sarif(checked: Checked, version: str) -> dict[str, Any]:
    """The log of one run as SARIF 2.1.0, ready for `json.dumps`."""
    kinds = sorted({item.kind for item in checked.findings})
    rules = [
        {
            "id": f"backstory/{kind}",
            "name": kind.capitalize(),
            "shortDescription": {"text": f"A {kind} that the project remembers speaks about this change."},
        }
        for kind in kinds
    ]
    notes = [{"level": "error", "message": {"text": one_line(problem, 1_000)}} for problem in checked.problems]
    invocation: dict[str, Any] = {"executionSuccessful": not notes}
    if notes:
        invocation["toolExecutionNotifications"] = notes
    run = {
        "tool": {"driver": {"name": "backstory", "version": version, "rules": rules}},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(item, kinds.index(item.kind)) for item in checked.findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def junit(checked: Checked) -> str:
    """A test suite in which a warning or a stop is a failed test, and a memory that cannot be read an error."""
    cases = [*map(_case, checked.findings), *map(_problem, checked.problems)]
    cases = cases or ['  <testcase classname="backstory" name="nothing speaks against this change"/>']
    failures = sum(item.level in ("warn", "block") for item in checked.findings)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{len(checked.problems)}" skipped="0"'
    body = "\n".join(cases)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="backstory" {counts}>\n{body}\n</testsuite>\n'


def _in_markdown(item: Finding) -> Iterable[str]:
    files = f" ({', '.join(map(_code, item.files[:5]))})" if item.files else ""
    yield f"- {plain(item.text)}{files}"
    if item.why:
        yield f"  - Why: {plain(item.why)}"
    if item.evidence:
        yield f"  - Evidence: {', '.join(plain(text) for text in item.evidence[:5])}"
    yield f"  - `backstory show {item.short}`"


def plain(text: str) -> str:
    """Stored text as Markdown that is nothing but text."""
    plain = _MARKDOWN.sub(r"\\\1", one_line(text, 600)).replace("&", "&amp;")
    # A comment inside breaks up what would notify a person or become a link by itself.
    return plain.replace("@", "@<!-- -->").replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")


def _code(text: str) -> str:
    return f"`{one_line(text, 300).replace('`', chr(0x2019))}`"


def _sarif_result(item: Finding, rule: int) -> dict[str, Any]:
    why = f" (why: {one_line(item.why, 1_000)})" if item.why else ""
    return {
        "ruleId": f"backstory/{item.kind}",
        "ruleIndex": rule,
        "level": _LEVELS.get(item.level, "warning"),
        "message": {"text": f"{one_line(item.text, 1_000)}{why}; backstory show {item.short}"},
        # GitHub shows no result without a place.
        "locations": [_location(file) for file in (item.files or (".",))[:10]],
        "partialFingerprints": {"backstoryEntry/v1": item.id},
    }


def _location(file: str) -> dict[str, Any]:
    found = _PLACE.match(file)
    path, first, last = (found[1], found[2], found[3]) if found else (file, None, None)
    region: dict[str, int] = {"startLine": int(first or 1)}
    if last:
        region["endLine"] = int(last)
    # A name that is no text comes with half a pair for each odd byte; other halves stand for nothing.
    uri = quote(_HALVES.sub("\ufffd", path).encode("utf-8", "surrogateescape"))
    return {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, "region": region}}


def _case(item: Finding) -> str:
    place = item.files[0] if item.files else "backstory"
    head = f"  <testcase classname={_attribute(place)} name={_attribute(f'{item.kind} {item.short}: {item.text}')}"
    if item.level not in ("warn", "block"):
        return f"{head}/>"
    body = "\n".join([item.text, *([f"why: {item.why}"] if item.why else []), f"backstory show {item.short}"])
    failure = f"<failure type={_attribute(item.level)} message={_attribute(item.text)}>{escape(_xml(body))}</failure>"
    return f"{head}>{failure}</testcase>"


def _problem(text: str) -> str:
    message = _attribute(text)
    return f'  <testcase classname="backstory" name="the memory can be read"><error message={message}/></testcase>'


def _attribute(text: str) -> str:
    return quoteattr(_xml(one_line(text, 1_000)))


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
