"""Named points at which a test may kill the process. In use, passing one does nothing."""

from __future__ import annotations

from collections.abc import Callable

POINTS = (
    "append.locked",
    "append.pending",
    "append.journal",
    "append.synced",
    "append.log",
    "append.done",
    "redact.recorded",
    "redact.written",
    "redact.replaced",
    "refresh.begun",
    "refresh.events",
    "refresh.folded",
    "refresh.committed",
)


def _nothing(point: str) -> None:
    """What a point does outside of tests."""


trip: Callable[[str], None] = _nothing
