"""`backstory supersede`: replaces an entry by a new one."""

from __future__ import annotations

from collections.abc import Sequence

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.input import text_of
from backstory.surfaces.cli.judging import operate, why
from backstory.surfaces.cli.recording import said, words
from backstory.surfaces.cli.running import Run, make

# Where the reason goes in the new entry.
_REASON_FIELD = {"decision": "rationale", "trial": "failure_mode", "pattern": "description", "hotfile": "why_hot"}


@make(
    "supersede",
    'backstory supersede 7K3QZP "Retry five times" --why "three were too few"',
    'backstory supersede 7K3QZP --by PQR4ST --why "says it better"',
)
@click.argument("old", metavar="OLD")
@words
@click.option("--by", "new", metavar="ID", help="An entry that exists already takes its place.")
@why("The reason.")
@click.option(
    "-f", "--file", "files", multiple=True, metavar="PATH", help="What the new one rests on (default: as OLD)."
)
@click.option("--detail", metavar="TEXT", help="More than one line.")
def command(
    run: Run, old: str, text: tuple[str, ...], new: str | None, reason: str, files: Sequence[str], detail: str | None
) -> None:
    """TEXT becomes a new entry of the same kind that supersedes OLD and cites the same files (`-` reads stdin).

    What a person confirmed is not replaced by an agent: both are contested until a person resolves it.
    """
    if (new is None) == (not text):
        raise BackstoryError(
            "What takes its place?", hint='`backstory supersede OLD "new text"`, or `backstory supersede OLD --by NEW`.'
        )
    if new is not None:
        operate(run, "retire", old, reason=reason or "superseded", said="supersede", successor=new)
        return
    from backstory.project.answers import show
    from backstory.project.succession import supersede

    project = run.open()
    summary, rest = text_of(text)
    kind = show(project, old).entry.kind
    fields = {"files": files, "detail": "\n\n".join(part for part in (detail, rest) if part)}
    fields[_REASON_FIELD.get(kind, "detail")] = reason or fields.get(_REASON_FIELD.get(kind, "detail"), "")
    outcome = supersede(project, run.by(), old, summary, fields, cwd=run.cwd)
    run.answer(outcome, lambda: [*said(project, outcome), _gone(run, old)])


def _gone(run: Run, old: str) -> str:
    from backstory.project.answers import show

    view = show(run.open(), old).entry
    return f"  {view.kind} {view.short} is {view.standing} now"
