"""Commands as an agent runs them: whole processes through the console script, the peer's beside them."""

import random
import sys

from benchmarks.bench import BACKSTORY, Bench
from benchmarks.measure import Command, cpu, interleave
from benchmarks.report import Part, Row, say

BAR = 150.0
# The peer takes seconds at the largest size: it runs in one of so many rounds.
PEER_EVERY = 5
OURS = {
    "append": ["decide", "Bounded the {} queue at one thousand entries", "--why", "a full queue is an error"],
    "search": ["search", "retry timeout"],
    "brief": ["brief"],
    "notes of one file": ["why", "PATH"],
}
PEERS = {
    "append": ["decision", "Bounded the {} queue at one thousand entries"],
    "search": ["search", "retry"],
    "brief": ["brief"],
    "notes of one file": ["precheck", "PATH"],
}
BARRED = ("append", "search", "brief")


def measure(bench: Bench) -> Part:
    """Each command of ours and of the peer, in one interleaved run for each size."""
    part = Part(
        "Commands",
        "The console scripts with stdin and stdout that are no terminal, in the project's folder. `backstory decide`,"
        " `search`, `brief` and `why PATH` against `pjm decision`, `search`, `brief` and `precheck PATH`. For"
        " comparison: `--version`, and the interpreter with its site folder.",
    )
    rows = {
        name: Row(
            f"{name}, whole process", "ms CPU",
            *((f"<= {BAR:g} ms, flat", BAR, True) if name in BARRED else ("for information",)),
        )
        for name in OURS
    }  # fmt: skip
    floors = {"--version": Row("`backstory --version`", "ms CPU"), "python": Row("`python -c pass`", "ms CPU")}
    for size in bench.sizes:
        say(f"cli at {size:,}")
        found = interleave(_commands(bench, size), bench.rounds)
        for name, row in {**rows, **floors}.items():
            row.measured[size] = cpu(found[name])
            if f"pjm {name}" in found:
                row.peer[size] = cpu(found[f"pjm {name}"])
    part.rows = [*rows.values(), *floors.values()]
    if bench.peer is None:
        part.notes.append("projectmem could not be installed, so it was not measured.")
    return part


def _commands(bench: Bench, size: int) -> list[Command]:
    made = bench.project(size)
    path = random.Random(size).choice(made.paths[:20])
    commands = [
        Command("--version", [BACKSTORY, "--version"], made.root),
        Command("python", [sys.executable, "-c", "pass"], made.root),
    ]
    for name, arguments in OURS.items():
        given = [path if argument == "PATH" else argument for argument in arguments]
        commands.append(Command(name, [BACKSTORY, *given], made.root))
    if bench.peer is not None:
        root = bench.peer.project(made)
        for name, arguments in PEERS.items():
            given = [path if argument == "PATH" else argument for argument in arguments]
            # `precheck` ends with 1 where it warns.
            commands.append(Command(f"pjm {name}", [bench.peer.command, *given], root, every=PEER_EVERY, accept=(0, 1)))
    return commands
