"""`backstory completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import say
from backstory.surfaces.cli.running import Run, make

_SHELLS = ("bash", "zsh", "fish")


@make(
    "completion",
    "backstory completion bash >> ~/.bashrc",
    "backstory completion zsh >> ~/.zshrc",
    "backstory completion fish > ~/.config/fish/completions/backstory.fish",
    project=False,
    json=False,
)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(run: Run, shell: str) -> None:
    """Commands, options and their values; names of commands need no project."""
    from click.shell_completion import get_completion_class

    from backstory.surfaces.cli.main import PROGRAM, group

    kind = get_completion_class(shell)
    if kind is None:
        raise BackstoryError(f"There is no completion for {shell}.", hint=f"Shells are: {', '.join(_SHELLS)}.")
    try:
        say(kind(group, {}, PROGRAM, "_BACKSTORY_COMPLETE").source())
    except RuntimeError as error:
        raise BackstoryError(
            f"The completion for {shell} cannot be made: {error}", hint="Use a newer shell."
        ) from error
