"""Groups of commands, made from the registry: the root, and those of two words such as `ticket new`.

A group knows its commands by name and imports one when it is called; the help of a group of two words, which shows an
example of each, imports them all.
"""

from __future__ import annotations

import importlib

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli import console
from backstory.surfaces.cli.registry import COMMANDS, GROUPS, below, full_name, nearest

PROGRAM = "backstory"
HELP = {"help_option_names": ["-h", "--help"]}


class Registered(click.Group):
    """The commands that the registry has below `above`, which is "" for the root."""

    above = ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return below(self.above)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name or other name, imported now."""
        return load(_joined(self.above, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with our words for a name that is none."""
        if args and not full_name(_joined(self.above, args[0])) and not ctx.resilient_parsing:
            near = nearest(args[0], self.above)
            called = _joined(PROGRAM, self.above)
            hint = f"Did you mean `{PROGRAM} {near}`?" if near else f"`{called} --help` lists the commands."
            raise BackstoryError(f"There is no command {_joined(self.above, args[0])[:60]!r}.", hint=hint)
        return super().resolve_command(ctx, args)


class _OfTwoWords(Registered):
    """A group such as `ticket`; its options count for whichever command follows."""

    def __init__(self, name: str) -> None:
        self.above = name
        params: list[click.Parameter] = [
            click.Option(["--project"], metavar="PATH", help="A folder of the project (default: here)."),
            click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object instead of text."),
        ]
        super().__init__(
            name, callback=_pass_on, params=params, help=GROUPS[name], short_help=GROUPS[name],
            invoke_without_command=True, subcommand_metavar="COMMAND [ARGS]...", context_settings=HELP,
        )  # fmt: skip

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """An example of each command: its own first one."""
        made = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        lines = [example for one in made if one is not None and (example := first_example(one))]
        self.epilog = "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
        super().format_epilog(ctx, formatter)


@click.pass_context
def _pass_on(ctx: click.Context, project: str | None, as_json: bool) -> None:
    above = ctx.obj or {}
    ctx.obj = {"project": project or above.get("project"), "as_json": as_json or above.get("as_json", False)}
    if ctx.invoked_subcommand is None:
        console.say(ctx.get_help())


def group(name: str) -> click.Group:
    """The group `name` of the registry."""
    return _OfTwoWords(name)


def load(name: str) -> click.Command | None:
    """The command or group that `name`, of one word or two, means; None when there is none."""
    known = full_name(name)
    if known in GROUPS:
        return group(known)
    if not known:
        return None
    module, _, attribute = COMMANDS[known].path.partition(":")
    made: click.Command = getattr(importlib.import_module(module), attribute)
    return made


def first_example(command: click.Command) -> str:
    """The first example of a command's help, or ""."""
    _, _, examples = (command.epilog or "").partition("Examples:\n")
    return examples.split("\n", 1)[0].strip()


def _joined(above: str, name: str) -> str:
    return f"{above} {name}" if above and name else above or name
