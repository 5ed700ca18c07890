"""Options that several reading commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Count(click.IntRange):
    """A whole number, called so in messages."""

    name = "whole number"


kinds = click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind. Repeatable.")


def window(function: F) -> F:
    """`--since` and `--until`: when it was recorded."""
    function = click.option("--until", metavar="DAY", help="Recorded up to this day or instant.")(function)
    return click.option("--since", metavar="DAY", help="Recorded from this day or instant on.")(function)


def moments(function: F) -> F:
    """`--as-of` and `--known-at`: the memory at another time."""
    function = click.option("--known-at", metavar="DAY", help="What the log said by the end of that day.")(function)
    return click.option("--as-of", metavar="DAY", help="What held at the end of that day, as known today.")(function)


def limit(default: int) -> Callable[[F], F]:
    """`--limit`: how many at most."""
    return click.option(
        "--limit", type=Count(1, 10_000), default=default, metavar="N", help=f"At most N (default {default})."
    )
