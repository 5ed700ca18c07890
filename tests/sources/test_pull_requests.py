"""Pull requests from cached files of either provider, and what a damaged file costs."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.sources.pull_requests import GITHUB, GITLAB, PullRequest, read
from backstory.sources.skipped import Skipped, Warned

MICROS = 1_000_000
GH: dict[str, Any] = {
    "additions": 3,
    "author": {"id": "U_1", "is_bot": False, "login": "ada", "name": "Ada"},
    "baseRefName": "main",
    "body": "Why\r\n\r\nand how",
    "closedAt": "2026-01-03T00:00:00Z",
    "closingIssuesReferences": [{"number": 77, "url": "https://example.org/77"}],
    "createdAt": "2026-01-01T00:00:00Z",
    "files": [{"path": "src/a.py", "additions": 1, "deletions": 0}, {"path": "src/b.py"}],
    "headRefName": "fix/a",
    "labels": [{"id": "L_1", "name": "bug", "color": "f00"}, {"name": "ui"}],
    "mergeCommit": {"oid": "a" * 40},
    "mergedAt": "2026-01-02T00:00:00Z",
    "milestone": {"number": 3, "title": "v1"},
    "number": 12,
    "state": "MERGED",
    "title": "Fix a",
    "url": "https://github.com/o/r/pull/12",
}
GL: dict[str, Any] = {
    "id": 9001,
    "iid": 7,
    "title": "Fix b",
    "description": "Text",
    "state": "opened",
    "author": {"id": 1, "username": "grace", "name": "Grace"},
    "created_at": "2026-01-01T02:00:00.000+02:00",
    "merged_at": None,
    "closed_at": None,
    "source_branch": "fix-b",
    "target_branch": "main",
    "merge_commit_sha": None,
    "squash_commit_sha": "b" * 40,
    "web_url": "https://gitlab.com/g/p/-/merge_requests/7",
    "labels": ["bug"],
    "changes": [{"old_path": "x.py", "new_path": "y.py"}],
}
FIRST = 1_767_225_600 * MICROS  # 2026-01-01


def load(folder: Path, content: object) -> tuple[list[PullRequest], list[Skipped | Warned]]:
    """The requests and the problems of a file with this content: text, bytes, or what becomes JSON."""
    file = folder / "prs.json"
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = list(read(str(file)))
    requests = [item for item in found if isinstance(item, PullRequest)]
    return requests, [item for item in found if not isinstance(item, PullRequest)]


def test_a_request_of_the_command_gh_has_all_its_fields(tmp_path: Path) -> None:
    """Each field of the JSON of gh is where it belongs."""
    assert load(tmp_path, [GH]) == (
        [
            PullRequest(
                number=12,
                title="Fix a",
                body="Why\r\n\r\nand how",
                state="merged",
                author="ada",
                created_at=FIRST,
                merged_at=FIRST + 86_400 * MICROS,
                closed_at=FIRST + 2 * 86_400 * MICROS,
                branch="fix/a",
                base="main",
                merge_commit="a" * 40,
                url="https://github.com/o/r/pull/12",
                labels=("bug", "ui"),
                paths=("src/a.py", "src/b.py"),
                provider=GITHUB,
                line=1,
            )
        ],
        [],
    )


def test_a_merge_request_of_gitlab_has_all_its_fields(tmp_path: Path) -> None:
    """The shape of the GitLab API is read into the same fields; a zone counts, and both names of a renamed file."""
    (request,), problems = load(tmp_path, [GL])
    assert problems == []
    assert (request.number, request.state, request.author, request.provider) == (7, "open", "grace", GITLAB)
    assert (request.created_at, request.merged_at, request.closed_at) == (FIRST, None, None)
    assert (request.branch, request.base, request.merge_commit) == ("fix-b", "main", "b" * 40)
    assert (request.labels, request.paths) == (("bug",), ("y.py", "x.py"))
    assert request.url.endswith("/merge_requests/7")


def test_the_github_api_says_closed_of_a_merged_request(tmp_path: Path) -> None:
    """The time of the merge decides; without one a closed request stays closed."""
    merged = {"number": 1, "title": "t", "state": "closed", "merged_at": "2026-01-01T00:00:00Z", "user": {"login": "x"}}
    closed = {**merged, "number": 2, "merged_at": None, "head": {"ref": "h"}, "html_url": "w", "url": "api"}
    (one, two), problems = load(tmp_path, [merged, closed])
    assert (one.state, two.state, one.author) == ("merged", "closed", "x")
    assert (two.branch, two.url, problems) == ("h", "w", [])


@pytest.mark.parametrize("state", [("OPEN", "open"), ("opened", "open"), ("locked", "open"), ("CLOSED", "closed")])
def test_states_have_one_spelling(tmp_path: Path, state: tuple[str, str]) -> None:
    """Both providers' words for a state are one."""
    (request,), problems = load(tmp_path, [{"number": 1, "title": "t", "state": state[0]}])
    assert (request.state, problems) == (state[1], [])


def test_every_way_to_hold_requests_is_read(tmp_path: Path) -> None:
    """Lists, lists in a row or in a list, lines, objects in a row, an object around a list, a BOM, UTF-16."""
    two = [{**GH, "number": 1}, {**GH, "number": 2}]
    lines = "\n".join(map(json.dumps, two))
    ways: list[object] = [
        two,
        json.dumps(two[:1]) + json.dumps(two[1:]),
        [two[:1], two[1:]],
        lines + "\n",
        lines.replace("\n", "\r\n\r\n"),
        json.dumps(two[0], indent=2) + json.dumps(two[1], indent=2),
        {"data": {"repository": {"pullRequests": {"nodes": two}}}},
        b"\xef\xbb\xbf" + lines.encode(),
        json.dumps(two).encode("utf-16"),
    ]
    for way in ways:
        requests, problems = load(tmp_path, way)
        assert ([request.number for request in requests], problems) == ([1, 2], []), way


def test_numbers_inside_of_a_request_are_no_requests(tmp_path: Path) -> None:
    """Milestones and linked issues have numbers too; a file of one request holds one."""
    requests, problems = load(tmp_path, GH)
    assert ([request.number for request in requests], problems) == ([12], [])
    without = {key: value for key, value in GH.items() if key not in ("number", "closingIssuesReferences")}
    for content in ([without], without):
        requests, problems = load(tmp_path, content)
        assert requests == []
        assert [type(problem) for problem in problems] == [Skipped]


def test_one_bad_request_costs_only_itself(tmp_path: Path) -> None:
    """No number, no object, a wrong type: the others are read, and each problem names its line."""
    bad: list[object] = [{"title": "no number"}, {"number": True}, {"number": -1}, {"number": "x"}, 5, "text", None]
    text = "[\n" + ",\n".join(map(json.dumps, [GH, *bad, {**GH, "number": 13}])) + "\n]"
    requests, problems = load(tmp_path, text)
    assert [(request.number, request.line) for request in requests] == [(12, 2), (13, 10)]
    assert [(type(problem), problem.line) for problem in problems] == [(Skipped, line) for line in range(3, 10)]


def test_a_broken_line_costs_only_itself(tmp_path: Path) -> None:
    """A line that was cut off, or two written into each other, leaves the lines around it whole."""
    line = json.dumps(GH)
    for broken in (line[: len(line) // 2], line[:-1], "{", '{"number": 5, "title": "x', "conflict <<<<"):
        text = "\n".join([json.dumps({**GH, "number": 1}), broken, json.dumps({**GH, "number": 2})])
        requests, problems = load(tmp_path, text)
        assert [request.number for request in requests] == [1, 2], broken
        assert problems[0].line == 2, broken


def test_a_list_that_was_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    """Wherever a list ends, the whole requests are read, and nothing inside the last is taken for one."""
    text = json.dumps([{**GH, "number": number} for number in (1, 2, 3)])
    third = text.index('"additions"', text.index('"number": 2')) - 1
    for cut in range(third, len(text) - 1, 7):
        requests, problems = load(tmp_path, text[:cut])
        assert [request.number for request in requests] == [1, 2], cut
        assert len(problems) == (cut > third)


def test_a_break_in_the_middle_of_a_list_costs_one_request(tmp_path: Path) -> None:
    """What follows the broken request is read, on one line and on many."""
    for indent in (None, 2):
        text = json.dumps([{**GH, "number": number} for number in (1, 2, 3)], indent=indent)
        at = text.index('"number": 2') - 40
        requests, problems = load(tmp_path, text[:at] + "\x07}" + text[at:])
        assert [request.number for request in requests] == [1, 3]
        assert [type(problem) for problem in problems] == [Skipped]


def test_odd_fields_cost_only_themselves(tmp_path: Path) -> None:
    """Wrong types become nothing; a date that is none, one without a zone and a strange state are reported."""
    odd = {
        "number": 1,
        "title": "  a\n b ",
        "body": {"x": 1},
        "state": "weird",
        "author": [1],
        "createdAt": "yesterday",
        "mergedAt": [],
        "closedAt": "2026-01-01 00:00",
        "headRefName": None,
        "files": {"nodes": [{"path": "p"}, 4, None, {"path": 3}]},
        "labels": ["a", "a", {"name": 5}, None, {}],
    }
    (request,), problems = load(tmp_path, [odd])
    assert (request.title, request.body, request.author, request.state) == ("a b", "", "", "weird")
    assert (request.created_at, request.merged_at, request.closed_at) == (None, None, FIRST)
    assert (request.labels, request.paths) == (("a", "5"), ("p",))
    assert len(problems) == 4
    assert all(isinstance(problem, Warned) and problem.why.startswith("#1: ") for problem in problems)


def test_the_same_number_again_is_reported(tmp_path: Path) -> None:
    """Both are read, in order, and a warning stands between them; other numbers and providers warn of nothing."""
    requests, problems = load(tmp_path, [GH, {**GH, "title": "newer"}, {**GH, "number": 7}, GL])
    assert [request.title for request in requests] == ["Fix a", "newer", "Fix a", "Fix b"]
    assert [problem.why for problem in problems] == ["#12 stands here again"]


def test_what_no_database_keeps_is_marked(tmp_path: Path) -> None:
    """Half a surrogate pair and NUL become U+FFFD; a whole pair stays the character it is."""
    text = '[{"number": 1, "state": "open", "title": "a\\ud800b\\u0000c \\ud83d\\ude00"}]'
    (request,), _ = load(tmp_path, text)
    assert request.title == "a\ufffdb\ufffdc \U0001f600"
    request.title.encode()


def test_a_file_that_is_not_there_or_empty(tmp_path: Path) -> None:
    """A missing file and a folder are reported; an empty file and an empty list hold nothing."""
    for path in (tmp_path / "none", tmp_path):
        (problem,) = read(str(path))
        assert isinstance(problem, Skipped)
        assert problem.line == 0
    for content in (b"", b"  \n", b"[]", b"{}"):
        assert load(tmp_path, content) == ([], [])


def test_bytes_that_are_not_utf8_are_reported_and_read(tmp_path: Path) -> None:
    """The request is read with marks; a mark that was written as such warns of nothing."""
    good = '[{"number": 1, "state": "open", "title": "a \ufffd"}]'.encode()
    assert load(tmp_path, good)[1] == []
    (request,), problems = load(tmp_path, good.replace(b"a ", b"\xff "))
    assert request.title == "\ufffd \ufffd"
    assert [type(problem) for problem in problems] == [Warned]


def test_a_hundred_thousand_brackets_raise_nothing(tmp_path: Path) -> None:
    """Deep nesting and numbers that are too long cost themselves."""
    deep = '{"number": 1, "x": ' + "[" * 100_000
    requests, problems = load(tmp_path, deep + "\n" + json.dumps(GH))
    assert problems
    requests, problems = load(tmp_path, '{"number": ' + "9" * 10_000 + "}\n" + json.dumps(GH))
    assert [request.number for request in requests] == [12]
    assert [type(problem) for problem in problems] == [Skipped]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(GH | GL)), inner, max_size=6),
    max_leaves=20,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(value=JSON, extra=st.binary(max_size=20), cut=st.integers(0, 200))
def test_nothing_raises(tmp_path: Path, value: Any, extra: bytes, cut: int) -> None:
    """Any JSON, whole, cut off or with bytes in it, yields requests and problems."""
    data = json.dumps(value).encode()
    requests, problems = load(tmp_path, data[:cut] + extra + data[cut:] + b"\n" + json.dumps(GH).encode())
    for request in requests:
        assert request.number > 0
        request.title.encode()
    assert requests or problems
