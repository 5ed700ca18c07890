"""Run the gates of `make check` side by side and show what failed.

    python tools/check.py                 every gate
    python tools/check.py lint types      only these
    python tools/check.py --write-docs    write the generated parts of the docs instead of checking them

Each gate is one command; its output is shown only if it fails. Exit code 1 if any gate failed.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COG_MARKER = "[[[" + "cog"
# import-linter has no `python -m` form, so its script beside the interpreter is called.
LINT_IMPORTS = str(Path(sys.executable).parent / "lint-imports")


def docs_with_cog() -> list[str]:
    """Markdown files that hold a generated part."""
    docs = [ROOT / "README.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    return [str(doc.relative_to(ROOT)) for doc in docs if doc.is_file() and COG_MARKER in doc.read_text("utf-8")]


def gates() -> dict[str, list[str]]:
    """Name of each gate and its command; the slowest come first."""
    python = [sys.executable, "-m"]
    commands = {
        "tests": [*python, "pytest", "tests/gates", "-q", "--no-header", "--tb=short"],
        "types": [*python, "mypy"],
        "layers": [LINT_IMPORTS],
        "dependencies": [*python, "deptry", "--no-ansi", "src"],
        "lint": [*python, "ruff", "check", "--output-format=concise", "."],
        "format": [*python, "ruff", "format", "--check", "."],
    }
    if docs := docs_with_cog():
        commands["docs"] = [*python, "cogapp", "--check", "--diff", *docs]
    return commands


def run(command: list[str]) -> tuple[bool, str, float]:
    """Return whether the command succeeded, all that it said, and how long it took in seconds."""
    start = time.monotonic()
    env = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return done.returncode == 0, done.stdout, time.monotonic() - start


def check(chosen: dict[str, list[str]]) -> int:
    """Run the gates and return the exit code."""
    start = time.monotonic()
    failures: dict[str, str] = {}
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        running = {pool.submit(run, command): name for name, command in chosen.items()}
        for future in as_completed(running):
            name = running[future]
            passed, output, seconds = future.result()
            print(f"{'ok    ' if passed else 'FAILED'}  {name:<13} {seconds:5.1f} s", flush=True)
            if not passed:
                failures[name] = output
    for name, output in failures.items():
        print(f"\n--- {name}: {' '.join(chosen[name])}\n{output.strip()}")
    verdict = f"failed: {', '.join(failures)}" if failures else "all gates passed"
    print(f"\n{verdict} ({time.monotonic() - start:.1f} s)")
    return 1 if failures else 0


def main(arguments: list[str]) -> int:
    """Parse the arguments and run what they ask for."""
    if arguments == ["--write-docs"]:
        docs = docs_with_cog()
        return check({"docs": [sys.executable, "-m", "cogapp", "-r", *docs]} if docs else {})
    known = gates()
    if unknown := set(arguments) - set(known):
        print(f"No such gate: {', '.join(sorted(unknown))}. Choose from {', '.join(known)}.", file=sys.stderr)
        return 2
    return check({name: known[name] for name in known if not arguments or name in arguments})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
