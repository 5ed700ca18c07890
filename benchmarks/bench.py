"""What every benchmark is given: the projects, the commands, the number of rounds."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchmarks import generate, peer
from benchmarks.generate import Made
from benchmarks.measure import Command, run
from benchmarks.report import say

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent
BACKSTORY = str(SCRIPTS / "backstory")
HOOK = str(ROOT / "src" / "backstory" / "surfaces" / "hooks" / "entry.py")


@dataclass
class Bench:
    """One run of the harness. Projects are made when they are first asked for, and then kept."""

    folder: Path
    sizes: Sequence[int]
    rounds: int
    with_peer: bool = True
    # Of made-up transcripts.
    gigabytes: float = 2.0
    _made: dict[int, Made] = field(default_factory=dict)

    def project(self, size: int) -> Made:
        """The project of so many events, its index built."""
        if size not in self._made:
            say(f"  making a project of {size:,} events")
            made = generate.make(self.folder / "projects", size)
            say("  building its index")
            run(Command("index", [BACKSTORY, "status"], made.root))
            self._made[size] = made
        return self._made[size]

    @property
    def largest(self) -> Made:
        """The project with the most events."""
        return self.project(max(self.sizes))

    @cached_property
    def peer(self) -> peer.Peer | None:
        """projectmem, or None when it is not wanted or cannot be had."""
        return peer.find() if self.with_peer else None
