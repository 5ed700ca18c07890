"""`backstory plan`: what is intended, apart from what happened."""

from __future__ import annotations

from collections.abc import Iterable

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import block, line_of, paint, tell
from backstory.surfaces.cli.input import _stdin, text_of
from backstory.surfaces.cli.running import Run, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.config import Config
    from backstory.project.planning import Plan

# What people type for each verb.
_VERBS = {
    "show": ("show", "list", "ls", "view", "get"),
    "add": ("add", "new", "append"),
    "set": ("set", "write", "replace"),
    "done": ("done", "finish", "tick", "check"),
    "clear": ("clear", "remove", "delete", "rm"),
}


@make(
    "plan",
    "backstory plan",
    'backstory plan add "Read in chunks"',
    "backstory plan done 2",
    "backstory plan set - < plan.md",
)
@click.argument("verb", default="show", metavar="[show|add|set|done|clear]")
@click.argument("text", nargs=-1)
def command(run: Run, verb: str, text: tuple[str, ...]) -> None:
    """Without a verb it is shown. `add` puts a line with a box behind the last, `set` writes all of it anew (`-` reads
    stdin), `done` ticks the item of a number or of words, `clear` removes the plan and prints what it said. It is a
    file of Markdown, which can be edited as well.
    """
    named = next((name for name, words in _VERBS.items() if verb.lower() in words), "")
    if not named:
        raise BackstoryError(
            f"{verb[:60]!r} is nothing that a plan can do.",
            hint=f'Verbs are: {", ".join(_VERBS)}. To add a line: `backstory plan add "..."`.',
        )
    plan = _do(run.open(warn=False).config, named, text)
    run.answer(plan, lambda: _lines(plan, named))
    if not run.as_json:
        _remarks(plan, named)


def _do(config: Config, verb: str, text: tuple[str, ...]) -> Plan:
    from backstory.project import planning

    if verb in ("show", "clear") and text:
        raise BackstoryError(f"`plan {verb}` takes no text.", hint=f"Run `backstory plan {verb}`.")
    if verb == "show":
        return planning.read(config)
    if verb == "clear":
        return planning.clear(config)
    # A plan is taken as it stands; what is one line may come from stdin as every text does.
    said = _stdin() if verb == "set" and text == ("-",) else "\n".join(part for part in text_of(text) if part)
    if not said.strip():
        raise BackstoryError(f"`plan {verb}` needs a text.", hint=f'Run `backstory plan {verb} "..."`.')
    return {"add": planning.add, "set": planning.write, "done": planning.done}[verb](config, said)


def _lines(plan: Plan, verb: str) -> Iterable[str]:
    if verb == "clear":
        if plan.removed:
            yield block(plan.removed, 0)
    elif verb in ("add", "done"):
        for item in plan.items:
            mark = paint("x", "green") if item.done else " "
            yield f"{item.number:>3}. [{mark}] {line_of(item.text)}"
    elif plan.text:
        yield block(plan.text, 0)


def _remarks(plan: Plan, verb: str) -> None:
    path = line_of(plan.path)
    if verb == "clear":
        tell(f"Removed {path}; what it said is above." if plan.removed else "There was no plan.")
    elif not plan.text:
        tell(f'There is no plan. `backstory plan add "..."` begins one, in {path}.')
    elif verb != "show":
        tell(f"Written to {path}.")
    if plan.redacted:
        tell(f"  taken out: {', '.join(plan.redacted)}")
    for note in plan.notes:
        tell(f"  {line_of(note)}")
