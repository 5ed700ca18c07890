"""What the history commands share: bringing it up to date, with a line of progress where that takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import click

from backstory.surfaces.cli.console import PATIENCE_SECONDS, tell
from backstory.surfaces.cli.running import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project

F = TypeVar("F", bound=Callable[..., Any])
_BETWEEN_SECONDS = 0.2


def as_it_is(function: F) -> F:
    """`--as-is`: ask what the last refresh read."""
    return click.option("--as-is", is_flag=True, help="Ask what the last refresh read; read nothing new.")(function)


def up_to_date(run: Run, as_is: bool) -> Project:
    """The project, its history brought up to date unless that is not wanted."""
    from backstory.project.history.asking import ensure

    project = run.open()
    with Counter() as counter:
        ensure(project, up_to_date=not as_is, progress=counter)
    return project


class Counter:
    """A line on stderr that says how far a refresh is, from the first second on; only at a terminal."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()
        self._shown = False

    def __enter__(self) -> Counter:
        return self

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how far it is; 0 for a total that is not known."""
        now = time.monotonic()
        if now - self._started < PATIENCE_SECONDS or now - self._last < _BETWEEN_SECONDS or not sys.stderr.isatty():
            return
        self._last, self._shown = now, True
        share = f" ({100 * done // total} %)" if total else ""
        sys.stderr.write(f"\rbackstory: reading {what}: {done:,}{share}\x1b[K")
        sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


def approved(cost: Any, yes: bool) -> bool:
    """Show what embedding costs, and ask whoever sits there; without `--yes` nobody else may say yes."""
    price = "no price is configured" if cost.dollars is None else f"about ${cost.dollars:.2f}"
    tell(f"The provider would be sent {cost.texts:,} texts, at most {cost.tokens:,} tokens: {price}.")
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        tell("Nothing was sent; `--yes` sends it.")
        return False
    return click.confirm("Send them?", err=True)
