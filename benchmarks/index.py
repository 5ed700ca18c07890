"""Building the index from nothing, and how large it gets."""

import statistics
from pathlib import Path

from backstory.config import load
from backstory.log.names import files
from benchmarks.bench import BACKSTORY, Bench
from benchmarks.measure import Command, Usage, run
from benchmarks.report import Part, Row, say

REPEATS = 3


def measure(bench: Bench) -> Part:
    """`backstory status` with the index deleted, and again with it there."""
    part = Part(
        "The index",
        "`backstory status` right after the index was deleted, less the same with the index there: log and journal are"
        " read, every line is checked and folded, freshness is judged, conflicts are looked for.",
    )
    built = Row("full rebuild", "s CPU")
    waited = Row("full rebuild, start to end", "s")
    each = Row("full rebuild, for each event", "us CPU")
    ratio = Row("size", "bytes of index for each byte of log")
    for size in bench.sizes:
        say(f"index at {size:,}")
        root = bench.project(size).root
        runs = [_once(root) for _ in range(REPEATS if size < 50_000 else 1)]
        built.measured[size] = statistics.median(usage.cpu for usage in runs) / 1e3
        waited.measured[size] = min(usage.wall for usage in runs) / 1e3
        each.measured[size] = built.measured[size] / size * 1e6
        places = load(str(root)).places
        log = sum(Path(path).stat().st_size for path in files(places.log_dir))
        ratio.measured[size] = Path(places.index_path).stat().st_size / log
    part.rows = [built, waited, each, ratio]
    return part


def _once(root: Path) -> Usage:
    """The cost of the first command after the index is gone, less that of the second."""
    index = Path(load(str(root)).places.index_path)
    for path in index.parent.glob(f"{index.name}*"):
        path.unlink()
    command = Command("status", [BACKSTORY, "status"], root)
    first, second = run(command), run(command)
    return Usage(first.cpu - second.cpu, first.wall - second.wall)
