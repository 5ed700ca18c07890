"""The same command ran after changes in several sessions: it is how the work is checked here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.story import Changed, Ran, Story
from backstory.project.capture.wording import command_of, summary

NAME = "patterns"
ACTIVE = False

SESSIONS, LONGEST = 3, 120
_ONE_TEST = re.compile(r"\s(?:-run|-k|-t|--grep|--filter|--testNamePattern|-m unittest \S+)[ =]|::|/dev/null|[<>]")
_CHECKS = tuple(
    (what, re.compile(rf"(?:^|[ :/-])(?:{words.replace(' ', '|')})$"))
    for what, words in (
        ("Tests are", r"py\.?test test tests unittest jest vitest mocha rspec phpunit nextest tox nox ctest"),
        ("Types are", "mypy pyright tsc typecheck type-check check-types ty"),
        ("Style is", "ruff eslint lint flake8 pylint black prettier clippy fmt format biome gofmt rubocop vet"),
        ("The build is", "build compile assemble package"),
        ("The work is", "make check verify validate ci gradle gradlew mvn just"),
    )
)


def across(stories: Iterable[Story]) -> Iterator[Candidate]:
    """The commands that check the work in these sessions."""
    seen: dict[tuple[str, str, str], dict[str, Ran]] = {}
    for story in stories:
        changed = False
        for step in story.steps:
            if isinstance(step, Changed):
                changed = True
            elif changed and isinstance(step, Ran) and _is_whole(step.line.same):
                what = _checks(step.line.program)
                if what:
                    seen.setdefault((step.folder, step.line.same, what), {})[story.session] = step
    # Of each folder and purpose the command that most sessions used; the shorter one where it is even.
    best: dict[tuple[str, str], tuple[tuple[int, int, str], dict[str, Ran]]] = {}
    for (folder, same, what), sessions in seen.items():
        rank = (-len(sessions), len(same), same)
        if len(sessions) >= SESSIONS and ((folder, what) not in best or rank < best[folder, what][0]):
            best[folder, what] = (rank, sessions)
    for (folder, what), (_rank, sessions) in sorted(best.items()):
        yield _candidate(folder, what, sessions)


def _is_whole(same: str) -> bool:
    """Whether a command is one command, short, and not for one test only."""
    return len(same) <= LONGEST and " && " not in same and not _ONE_TEST.search(same)


def _checks(program: str) -> str:
    return next((what for what, pattern in _CHECKS if pattern.search(program)), "")


def _candidate(folder: str, what: str, sessions: dict[str, Ran]) -> Candidate:
    last = max(sessions.values(), key=lambda ran: ran.at or 0)
    where = f" in {folder}" if folder else ""
    told = f"{what} {'run' if what != 'The work is' else 'checked'} with {command_of(last, LONGEST)}{where}"
    return Candidate(
        NAME,
        "pattern",
        {
            "summary": summary(f"{told} (seen in {len(sessions)} sessions)"),
            "name": f"{what.lower()} run with",
            "description": told,
            "examples": (last.line.same,),
        },
        tuple(
            Evidence(ran.offset, f"{command_of(ran)} ran", session) for session, ran in sorted(sessions.items())[:10]
        ),
        last.at,
        weight=1.0,
        key=f"pattern:{folder}|{last.line.same}",
    )
