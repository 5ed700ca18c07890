"""`backstory check`: what the memory says about a change before it is made."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.errors import BackstoryError, Exit
from backstory.surfaces.cli.console import line_of, paint, patience, tell
from backstory.surfaces.cli.input import file_or_stdin
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.changes import Changes
    from backstory.project.checking import Checked, Finding
    from backstory.project.opened import Project

_COLOURS = {"block": "red", "warn": "yellow", "info": "dim"}
_MOST_UNKNOWN = 3


@make("check", "backstory check --staged", 'backstory check src/db.py --intent "use one writer"')
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--staged", is_flag=True, help="What `git commit` would take.")
@click.option("--working", is_flag=True, help="All that differs from HEAD.")
@click.option("--diff", metavar="FILE", help="A unified diff (`-` reads it from stdin).")
@click.option("--since", metavar="COMMIT", help="What this branch changed since it left COMMIT.")
@click.option("--intent", metavar="TEXT", default="", help="What the change is for, in one line.")
@click.option("--ci", is_flag=True, help="For continuous integration: also the anchors that the change breaks.")
@click.option("--markdown", metavar="FILE", default="", help="With --ci: write a comment for a pull request.")
@click.option("--sarif", metavar="FILE", default="", help="With --ci: write the findings as SARIF 2.1.0.")
@click.option("--junit", metavar="FILE", default="", help="With --ci: write the findings as JUnit XML.")
@click.option(
    "--level",
    type=click.Choice(["info", "warn", "block"]),
    default="warn",
    show_default=True,
    help="Exit with 1 when something at this level or above is found.",
)
def command(
    run: Run, paths: tuple[str, ...], staged: bool, working: bool, diff: str | None, since: str | None, intent: str,
    level: str, ci: bool, **reports: str,
) -> int:  # fmt: skip
    """Without PATH, --staged, --diff or --since it looks at the work tree. A shared file alone never warns: what was
    tried before is shown where its lines come back, or where the intent says the same again. Exits with 5 when the
    memory could not be read whole."""
    from backstory.project.checking import check, knows_what_was_backed_out

    _usable(paths, staged, working, diff, ci, reports)
    if staged + working + (diff is not None) + (since is not None) > 1:
        raise BackstoryError(
            "Only one of --staged, --working, --diff and --since can be given.",
            hint="Leave the others out.",
            code=Exit.USAGE,
        )
    project = run.open(warn=False)
    if ci:
        return _ci(run, project, since or "HEAD~1", level, reports)
    named = tuple(run.inside(path) or "" for path in paths)
    changes = _changes(project, staged, working or not (named or intent), diff, since)
    found = check(project, named, intent=intent, changes=changes)
    run.answer(found, lambda: _lines(found))
    if changes is not None and found.paths and not knows_what_was_backed_out(project):
        tell("backstory: what was backed out is not known here: `backstory history refresh` reads it from git")
    return _code(found, level)


def _usable(
    paths: tuple[str, ...], staged: bool, working: bool, diff: str | None, ci: bool, reports: dict[str, str]
) -> None:
    """Refuse what would be left unread."""
    if ci and (paths or staged or working or diff is not None):
        raise BackstoryError(
            "--ci looks at what a branch changed, and takes neither paths nor another source of changes.",
            hint="Name where the branch left: `backstory check --ci --since origin/main`.",
            code=Exit.USAGE,
        )
    if not ci and any(reports.values()):
        raise BackstoryError("Reports are written with --ci only.", hint="Add --ci, or use --json.", code=Exit.USAGE)


def _ci(run: Run, project: Project, since: str, level: str, reports: dict[str, str]) -> int:
    from backstory.project.ci.judging import judge, memory_changes, write

    with patience("reading the history"):
        found = judge(project, since)
        memory = memory_changes(project, since) if reports.get("markdown") else ""
    written = write(found, reports, memory=memory)
    run.answer(found, lambda: [*_lines(found), *(f"Written: {line_of(path)}" for path in written)])
    return _code(found, level)


def _code(found: Checked, level: str) -> int:
    for problem in found.problems:
        tell(f"backstory: {line_of(problem)}")
    if found.problems:
        return Exit.DAMAGED
    return Exit.FINDINGS if found.reaches(level) else Exit.OK


def _changes(project: Project, staged: bool, working: bool, diff: str | None, since: str | None) -> Changes | None:
    from backstory.project import changes

    if diff is not None:
        return changes.of_given_diff(file_or_stdin(diff))
    if since is not None:
        return changes.since(project.root, since)
    if staged:
        return changes.staged(project.root)
    return changes.working(project.root) if working else None


def _lines(found: Checked) -> Iterable[str]:
    if not found.paths:
        yield "Nothing is about to change."
        return
    for one in found.findings:
        yield from _finding(one)
    if found.more:
        yield paint(f"{found.more} more: `backstory why PATH`", "dim")
    for line in found.snoozed:
        yield paint(line_of(line), "dim")
    if found.findings and len(found.unknown) > _MOST_UNKNOWN:
        yield paint(f"Nothing is known about {len(found.unknown)} other files.", "dim")
        return
    for path in found.unknown[:_MOST_UNKNOWN]:
        yield f"Nothing is known about {line_of(path)}."
    rest = len(found.unknown) - _MOST_UNKNOWN
    if rest > 0:
        yield f"Nothing is known about {rest} other files either."
    if not found.findings and not found.unknown and not found.snoozed:
        yield "Nothing that is known about these files speaks against it."


def _finding(one: Finding) -> Iterable[str]:
    yield f"{paint(one.level, _COLOURS[one.level])}  {line_of(one.text)}"
    facts = [one.why] * bool(one.why) + [f"files: {', '.join(one.files[:4])}"] * bool(one.files)
    facts += [f"sources: {', '.join(one.evidence)}"] * bool(one.evidence)
    if one.level != "info":
        for fact in [*facts, f"id {one.short}: `backstory show {one.short}`"]:
            yield f"      {paint(line_of(fact), 'dim')}"
