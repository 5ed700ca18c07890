"""When edits of a file are churn; the table `watch` of `project.toml` sets it."""

from __future__ import annotations

import tomllib

import msgspec

from backstory.config import Config
from backstory.errors import BackstoryError, Exit

_BOUNDS = {"edits": (2, 1_000), "minutes": (0.1, 1_440), "gap_seconds": (0, 3_600), "poll_seconds": (0.2, 600)}


class WatchSettings(msgspec.Struct, frozen=True):
    """`edits` within `minutes` are churn; saves of one file within `gap_seconds` are one edit.

    The work tree is looked at every `poll_seconds`, less often where a look takes long.
    """

    edits: int = 6
    minutes: float = 10.0
    # An editor that saves while one types, and an agent that makes a change in several calls, edit once.
    gap_seconds: float = 15.0
    poll_seconds: float = 2.0


# Files that are remembered, and files whose edits are counted: 300 bytes each.
MOST_FILES, MOST_COUNTED = 5_000, 500
# More files than these at once were changed by a tool: a formatter, a stash, a checkout of paths.
MOST_AT_ONCE = 20


def of(config: Config, **given: float | None) -> WatchSettings:
    """The settings of a project; `given` ones that are not None come first. `BackstoryError` for what makes no sense.

    `watch` is read here and not with the other settings, since no hook needs it.
    """
    with open(config.places.marker, "rb") as file:
        table = tomllib.load(file).get("watch", {})
    if not isinstance(table, dict):
        raise BackstoryError("watch is no table.", hint="Write `[watch]`, with the settings below it.", code=Exit.USAGE)
    wanted = {**table, **{name: value for name, value in given.items() if value is not None}}
    for name, value in wanted.items():
        _refuse_nonsense(name, value)
    return msgspec.convert(wanted, WatchSettings)


def _refuse_nonsense(name: str, value: object) -> None:
    if name not in _BOUNDS:
        raise BackstoryError(
            f"There is no setting watch.{name[:60]}.", hint=f"Known are: {', '.join(_BOUNDS)}.", code=Exit.USAGE
        )
    least, most = _BOUNDS[name]
    whole = name != "edits" or isinstance(value, int)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not whole or not least <= value <= most:
        what = "a whole number" if name == "edits" else "a number"
        raise BackstoryError(
            f"watch.{name} is {str(value)[:40]!r}.", hint=f"It is {what} from {least:g} to {most:g}.", code=Exit.USAGE
        )
