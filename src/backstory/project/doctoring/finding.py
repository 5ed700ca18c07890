"""What `doctor` says: one sentence for each thing that was tried, and the next step where there is one."""

from __future__ import annotations

from typing import Final

import msgspec

GOOD: Final = "good"
FIXED: Final = "fixed"
ADVICE: Final = "advice"
BAD: Final = "bad"
FIX = "`backstory doctor --fix`"


class Check(msgspec.Struct, frozen=True):
    """One thing that was tried. `state`: good, fixed, advice (works, could be better) or bad."""

    name: str
    state: str
    message: str
    fix: str = ""
