"""The entry point `backstory`: finds the command, runs it, and turns what goes wrong into words.

Commands are imported only when they are used: help and completion read the registry.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from backstory import __version__
from backstory.errors import BackstoryError
from backstory.surfaces.cli import console, faults
from backstory.surfaces.cli.grouping import HELP, PROGRAM, Registered
from backstory.surfaces.cli.registry import ANY_KIND, OF_KIND, SECTIONS, rows

__all__ = ["PROGRAM", "group", "main", "run"]
_HELP = """A project's memory of itself: what was decided and why, what was tried and failed, which files bite.

Begin with `backstory init`; then record with `backstory decide "text" --why "reason"`, and read with
`backstory brief`, `backstory search WORDS` or `backstory why PATH`.
"""
_EPILOG = """\b
Examples:
  backstory decide "Use WAL mode" --why "concurrent reads" -f src/db.py:10-40
  backstory tried "Cache the parser" --failed "went stale" -f src/parse.py
  backstory why src/db.py

\b
Exit codes: 0 done, 1 findings, 2 usage, 3 no project here, 4 refused,
5 damaged log, 70 a fault of ours, 130 interrupted.
"""


class Commands(Registered):
    """The root of all commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in every group; `record KIND` is the command of that kind."""
        if args and args[0] == ANY_KIND:
            args = _by_kind(args[1:])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by section, from the registry."""
        for section, about in SECTIONS.items():
            with formatter.section(f"{section} ({about})"):
                formatter.write_dl(rows(section), col_max=12)

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """Run and exit; the same way for the process and for click's test runner."""
        sys.exit(run(list(sys.argv[1:] if args is None else args)))


def _by_kind(rest: list[str]) -> list[str]:
    """`decision "text" ...` as the arguments of the command of that kind."""
    from backstory.records.registry import KINDS, kind_name

    place = next((place for place, word in enumerate(rest) if not word.startswith("-")), -1)
    if place < 0:
        raise BackstoryError("`backstory record` needs a kind.", hint=f"Kinds are: {', '.join(KINDS)}.")
    kind = kind_name(rest[place])
    if kind is None:
        raise BackstoryError(f"{rest[place][:60]!r} is no kind of entry.", hint=f"Kinds are: {', '.join(KINDS)}.")
    return [OF_KIND.get(kind, kind), *rest[:place], *rest[place + 1 :]]


@click.command(
    PROGRAM,
    cls=Commands,
    help=_HELP,
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings=HELP,
)
@click.option("--project", metavar="PATH", help="A folder of the project (default: the current one).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context, project: str | None, as_json: bool) -> None:
    """The root of all commands; options here count for whichever command follows."""
    ctx.obj = {"project": project, "as_json": as_json}
    if ctx.invoked_subcommand is None:
        console.say(ctx.get_help())


def run(args: list[str]) -> int:
    """Run one command line; the exit code. Everything that is raised ends here."""
    as_json = "--json" in args[: args.index("--")] if "--" in args else "--json" in args
    try:
        with group.make_context(PROGRAM, list(args)) as ctx:
            code = group.invoke(ctx)
        console.flush()
        return code if isinstance(code, int) else 0
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 (the one place where everything becomes words)
        return faults.report(error, as_json)


def main() -> NoReturn:
    """The console script."""
    console.prepare()
    variable = "_BACKSTORY_COMPLETE"
    if variable in os.environ:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(group, {}, PROGRAM, variable, os.environ[variable]))
    _leave(run(sys.argv[1:]))


def _leave(code: int) -> NoReturn:
    """End the process at once: taking the interpreter apart costs 17 ms, and nothing of ours is left to close."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code)
