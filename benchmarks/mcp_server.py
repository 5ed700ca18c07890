"""The MCP server: its start against an empty server on the same SDK, its calls against an echo."""

import itertools
import random
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bench import BACKSTORY, ROOT, Bench
from benchmarks.generate import SEED, Made
from benchmarks.measure import Failed
from benchmarks.report import Part, Row, say
from benchmarks.wire import Client

START_BAR, CALL_BAR = 1.15, 10.0
CALLS = 30
EMPTY = [sys.executable, "-P", str(ROOT / "benchmarks" / "empty_server.py")]
FIRST = "search_project_memory"
TOOLS = ("get_project_memory", "search_project_memory", "record_project_memory", "revise_project_memory")


def measure(bench: Bench) -> Part:
    """Starts interleaved, calls interleaved with those of an echo server."""
    part = Part(
        "MCP",
        "A client in plain JSON-RPC. Start: `initialize`, `tools/list`, end of stdin; the CPU time of the whole process"
        " against that of `benchmarks/empty_server.py`. Calls: the time from request to answer, less the median of the"
        " same against a tool that returns its argument, on a server that is up; beside it the CPU time of"
        " the server without that of git, and the quickest call of all.",
    )
    _starts(bench, part)
    _calls(bench, part)
    return part


def _starts(bench: Bench, part: Part) -> None:
    ratio = Row("first answer and tools/list", "times an empty server", f"<= {START_BAR} x", START_BAR, flat=True)
    ours, empty = Row("first answer and tools/list", "ms CPU"), Row("the same of an empty server", "ms CPU")
    waited = Row("start to the list of tools", "times an empty server, quickest")
    for size in bench.sizes:
        say(f"mcp start at {size:,}")
        root = bench.project(size).root
        commands = {"ours": [BACKSTORY, "mcp"], "empty": EMPTY}
        took: dict[str, list[float]] = {name: [] for name in commands}
        ages: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(bench.rounds + 1):
            for name in sorted(commands, reverse=bool(number % 2)):
                client = Client(commands[name], root, bench.folder / f"{name}.stderr")
                tools, age = client.begin(), client.age
                if bool(tools) != (name == "ours"):
                    raise Failed(f"{name} lists {len(tools)} tools")
                spent = client.close()
                if number:
                    took[name].append(spent)
                    ages[name].append(age)
        ours.measured[size], empty.measured[size] = (statistics.median(took[name]) for name in ("ours", "empty"))
        ratio.measured[size] = ours.measured[size] / empty.measured[size]
        waited.measured[size] = min(ages["ours"]) / min(ages["empty"])
    part.rows += [ratio, ours, empty, waited]


def _calls(bench: Bench, part: Part) -> None:
    over = {tool: Row(f"`{tool}`, p50", "ms over the SDK's own", f"<= {CALL_BAR:g} ms", CALL_BAR) for tool in TOOLS}
    spent = {tool: Row(f"`{tool}`, p50", "ms CPU over the SDK's own") for tool in TOOLS}
    quickest = {tool: Row(f"`{tool}`, quickest", "ms over the SDK's own") for tool in TOOLS}
    echo, first = Row("an echo on the same SDK, p50", "ms"), Row("start to the first answer of a tool", "times an echo")
    for size in bench.sizes:
        say(f"mcp calls at {size:,}")
        found = _rounds(bench.project(size), bench.folder)
        own = found["echo"]
        echo.measured[size] = own.waited
        first.measured[size] = found[FIRST].first / own.first
        for tool in TOOLS:
            over[tool].measured[size] = found[tool].waited - own.waited
            spent[tool].measured[size] = found[tool].cpu - own.cpu
            quickest[tool].measured[size] = min(found[tool].waits) - min(own.waits)
    part.rows += [first, *over.values(), *spent.values(), *quickest.values(), echo]


@dataclass
class Calls:
    """The calls of one tool: waiting and CPU time of each in milliseconds; `first`: from the start of the server."""

    waits: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    first: float = 0.0

    @property
    def waited(self) -> float:
        """The median waiting time."""
        return statistics.median(self.waits)

    @property
    def cpu(self) -> float:
        """The median CPU time."""
        return statistics.median(self.cpus)


def _rounds(made: Made, folder: Path) -> dict[str, Calls]:
    found = {name: Calls() for name in (*TOOLS, "echo")}
    arguments, last = _arguments(made), ""
    clients = {}
    for name, command in ((FIRST, [BACKSTORY, "mcp", "--role", "write"]), ("echo", [*EMPTY, "echo"])):
        clients[name] = Client(command, made.root, folder / f"{name}.stderr")
        clients[name].begin()
        clients[name].call(name, next(arguments[name]))
        found[name].first = clients[name].age
    for number in range(CALLS + 1):
        for tool, calls in found.items():
            given = {**next(arguments[tool]), **({"id": last} if tool == "revise_project_memory" else {})}
            waited, cpu, answer = clients["echo" if tool == "echo" else FIRST].call(tool, given)
            if tool == "record_project_memory":
                last = answer["id"]
            if number:  # the first call of each warms up
                calls.waits.append(waited)
                calls.cpus.append(cpu)
    for client in clients.values():
        client.close()
    return found


def _arguments(made: Made) -> dict[str, Iterator[dict[str, Any]]]:
    rng = random.Random(SEED)
    words = made.words[45:1_500]
    number = itertools.count(rng.randrange(10**9))

    def record() -> dict[str, Any]:
        return {
            "kind": "decision",
            "summary": f"{' '.join(rng.sample(words, 8))} {next(number)}",
            "rationale": " ".join(rng.sample(words, 10)),
            "file_refs": [rng.choice(made.paths)],
        }

    return {
        "get_project_memory": (dict(kind="decision") for _ in itertools.count()),
        "search_project_memory": ({"query": " ".join(rng.sample(words, 2))} for _ in itertools.count()),
        "record_project_memory": (record() for _ in itertools.count()),
        "revise_project_memory": ({"action": "confirm"} for _ in itertools.count()),
        "echo": ({"text": " ".join(rng.sample(words, 20))} for _ in itertools.count()),
    }
