"""Pull requests from a cached file: as `gh pr list --json` and the GitHub API write them, or the GitLab API.

A file holds a list, several lists one after another, or one object per line. What is odd about one request costs
that request or that field, and is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backstory.sources.json_items import Item, Json, clean, is_guess, moment_of, read_items, text_of
from backstory.sources.skipped import Skipped, Warned

GITHUB, GITLAB = "github", "gitlab"
_NUMBERS = ("number", "iid")
_STATES = {"open": "open", "opened": "open", "locked": "open", "draft": "open", "closed": "closed", "merged": "merged"}
_LONGEST_BODY = 100_000
_MOST_PATHS = 10_000


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull or merge request. `state` is open, closed or merged, or what the file says if it is none of these.

    Times are in microseconds since the epoch; `paths` are the files that it changes, both names of a renamed one,
    empty where the file does not say; `line` is where it stands.
    """

    number: int
    title: str
    body: str
    state: str
    author: str
    created_at: int | None
    merged_at: int | None
    closed_at: int | None
    branch: str
    base: str
    merge_commit: str
    url: str
    labels: tuple[str, ...]
    paths: tuple[str, ...]
    provider: str
    line: int


def read(path: str) -> Iterator[PullRequest | Skipped | Warned]:
    """The requests of a file in its order. One that stands there again is read again, with a warning."""
    seen: set[tuple[str, int]] = set()
    for item in read_items(path, _NUMBERS):
        if not isinstance(item, Item):
            yield item
            continue
        number = _number(item)
        if number is None:
            yield Skipped(path, item.line, "a pull request without a number")
            continue
        request, problems = _request(number, item)
        yield from (Warned(path, item.line, f"#{number}: {problem}") for problem in problems)
        if (request.provider, number) in seen:
            yield Warned(path, item.line, f"#{number} stands here again")
        seen.add((request.provider, number))
        yield request


def _number(item: Item) -> int | None:
    for name in _NUMBERS:
        text = text_of(item.fields.get(name))
        if text.isascii() and text.isdecimal() and 0 < int(text) < 1 << 53:
            return int(text)
    return None


def _request(number: int, item: Item) -> tuple[PullRequest, list[str]]:
    fields = item.fields
    problems: list[str] = []
    times = {}
    for name, keys in (
        ("created", "createdAt created_at"),
        ("merged", "mergedAt merged_at"),
        ("closed", "closedAt closed_at"),
    ):
        times[name], problem = moment_of(_first(fields, *keys.split()))
        if problem:
            problems.append(f"{name} at {'a time' if is_guess(problem) else 'what is'} {problem}")
    request = PullRequest(
        number=number,
        title=" ".join(text_of(fields.get("title")).split()),
        body=text_of(_first(fields, "body", "description"))[:_LONGEST_BODY],
        state=_state(fields, times["merged"], problems),
        author=_name(_first(fields, "author", "user")),
        created_at=times["created"],
        merged_at=times["merged"],
        closed_at=times["closed"],
        branch=_name(_first(fields, "headRefName", "source_branch", "head")),
        base=_name(_first(fields, "baseRefName", "target_branch", "base")),
        merge_commit=_name(_first(fields, "mergeCommit", "merge_commit_sha", "squash_commit_sha", "merge_commit")),
        url=_name(_first(fields, "html_url", "web_url", "url")),
        labels=tuple(dict.fromkeys(filter(None, map(_name, _list(fields.get("labels")))))),
        paths=_paths(fields),
        provider=GITLAB if "iid" in fields or "source_branch" in fields else GITHUB,
        line=item.line,
    )
    if not request.title:
        problems.append("it has no title")
    return request, problems


def _state(fields: dict[str, Json], merged_at: int | None, problems: list[str]) -> str:
    """The API says closed of a merged request too, so the time of the merge decides."""
    said = text_of(fields.get("state")).strip().lower()
    if merged_at is not None or fields.get("merged") is True:
        return "merged"
    if said not in _STATES:
        problems.append(f"a state that is none of the three: {said[:40]}" if said else "it has no state")
    return _STATES.get(said, said)


def _paths(fields: dict[str, Json]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for file in [*_list(fields.get("files")), *_list(fields.get("changes")), *_list(fields.get("diffs"))]:
        keys = ("path", "filename", "new_path", "old_path", "previous_filename")
        names = [file.get(key) for key in keys] if isinstance(file, dict) else [file]
        found.update(dict.fromkeys(clean(name) for name in names if isinstance(name, str) and name))
        if len(found) >= _MOST_PATHS:
            break
    return tuple(found)


def _name(value: Json) -> str:
    """The text, or the name of an object: a person's login, a label's name, a commit's id, a branch."""
    if isinstance(value, dict):
        value = _first(value, "login", "username", "name", "title", "oid", "sha", "ref")
        return text_of(value) if not isinstance(value, dict) else ""
    return text_of(value)


def _list(value: Json) -> list[Json]:
    """The items of a list, or of the `nodes` in which GraphQL wraps one."""
    if isinstance(value, dict):
        value = value.get("nodes")
    return value if isinstance(value, list) else []


def _first(fields: dict[str, Json], *names: str) -> Json:
    """The first of the fields that holds something."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "")), None)
