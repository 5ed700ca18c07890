"""`python -m benchmarks [names] [--sizes 207,10000,100000] [--out docs/benchmarks.md]`."""

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    capture,
    cli,
    foresight,
    history,
    hook,
    index,
    logs,
    mcp_server,
    page,
    retrieval,
    search,
    semantic,
    transcripts,
)
from benchmarks.bench import ROOT, Bench
from benchmarks.report import Part, markdown, say

ALL: dict[str, Callable[[Bench], Part]] = {
    "hook": hook.measure,
    "cli": cli.measure,
    "mcp": mcp_server.measure,
    "log": logs.measure,
    "search": search.measure,
    "index": index.measure,
    "history": history.measure,
    "retrieval": retrieval.measure,
    "semantic": semantic.measure,
    "foresight": foresight.measure,
    "transcripts": transcripts.measure,
    "capture": capture.measure,
    "page": page.measure,
}
OUT = "docs/benchmarks.md"
SIZES = "207,10000,100000"
# What would make our processes and the measured ones behave as they do nowhere else.
_UNSET = ("BACKSTORY_", "CLAUDE", "CODEX_", "CURSOR_", "GEMINI_", "GIT_", "PYTHON", "CI", "AGENT", "AI_AGENT")


def main() -> int:
    """Run the benchmarks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(ALL)} (default: all)")
    parser.add_argument("--sizes", default=SIZES, help=f"events in the log (default: {SIZES})")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved runs of each command (default: 15)")
    parser.add_argument(
        "--out", type=Path, help=f"the Markdown file to write (default: {OUT} for a run of all, else stdout)"
    )
    parser.add_argument("--keep", type=Path, help="a folder for the projects, used again by the next run")
    parser.add_argument("--no-peer", action="store_true", help="leave projectmem out")
    parser.add_argument(
        "--gigabytes", type=float, default=2.0, help="size of the made-up transcripts (default: 2; try 0.05)"
    )
    given = parser.parse_args()
    given.out = given.out and given.out.resolve()
    unknown = sorted(set(given.names) - set(ALL))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(ALL)}")
    sizes = sorted(int(size) for size in given.sizes.split(","))
    before = _load()
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    with tempfile.TemporaryDirectory(prefix="backstory-benchmarks-") as temporary:
        folder = (given.keep or Path(temporary)).resolve()
        _isolate(folder / "home", cache)
        bench = Bench(folder, sizes, given.rounds, not given.no_peer, given.gigabytes)
        parts = [measure(bench) for name, measure in ALL.items() if name in (given.names or ALL)]
    text = markdown(parts, sizes, _command(), f"{before} at the start and {_load()} at the end")
    out = given.out or (ROOT / OUT if not given.names and given.sizes == SIZES else None)
    if out:
        out.write_text(text, "utf-8")
        say(f"wrote {out}")
    else:
        sys.stdout.write(text)
    missed = [row for part in parts for row in part.rows if row.verdict not in ("", "met")]
    for row in missed:
        say(f"{row.what}: {row.verdict}")
    return 1 if missed else 0


def _load() -> str:
    """How many processes wanted a core in the last minute; `unknown` where the system does not say."""
    try:
        return f"{os.getloadavg()[0]:.1f}"
    except (AttributeError, OSError):
        return "unknown"


def _command() -> str:
    words = sys.argv[1:]
    shown = [word for place, word in enumerate(words) if "--keep" not in (word, words[place - 1])]
    return shlex.join(["python", "-m", "benchmarks", *shown])


def _isolate(home: Path, cache: str) -> None:
    """A home of our own, so that no setting of this machine's user has a part in what is measured."""
    home.mkdir(parents=True, exist_ok=True)
    for name in list(os.environ):
        if name.startswith(_UNSET):
            del os.environ[name]
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Benchmark\n\temail = benchmark@example.org\n[commit]\n\tgpgSign = false\n", "utf-8"
    )
    os.environ |= {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "BENCHMARKS_CACHE": cache,
        "LC_ALL": "C.UTF-8",
    }
    os.chdir(ROOT)


if __name__ == "__main__":
    sys.exit(main())
