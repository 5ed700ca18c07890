"""Packages of npm that tests need: brought once into a folder of the user's cache, in the version that is named."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


def folder(variable: str, name: str) -> Path:
    """The folder that the environment variable names, or `backstory/name` in the user's cache."""
    given = os.environ.get(variable)
    if given:
        return Path(given).expanduser().resolve()
    cache = os.environ.get("XDG_CACHE_HOME")
    return Path(cache if cache else Path.home() / ".cache") / "backstory" / name


def installed(place: Path, packages: dict[str, str]) -> dict[str, str]:
    """Which versions of them are there."""
    found = {}
    for name in packages:
        try:
            data = json.loads((place / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
            found[name] = str(data["version"])
        except (OSError, ValueError, KeyError):
            continue
    return found


def install(place: Path, packages: dict[str, str]) -> None:
    """Bring them there; nothing is done where they are. `SystemExit` with what to do where that fails.

    No script of a package is run.
    """
    if installed(place, packages) == packages:
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(f"{', '.join(packages)} come from npm, and there is none on PATH. Install Node, then run this again.")
    place.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in packages.items()]
    print(f"Installing {' '.join(wanted)} into {place}", flush=True)
    # The clients are binaries inside the packages: no script has to run, and no version of Node matters.
    flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--engine-strict=false"]
    done = subprocess.run([npm, "install", "--prefix", str(place), *flags, *wanted], cwd=place, check=False)
    if done.returncode != 0 or installed(place, packages) != packages:
        sys.exit("npm could not install them; its messages are above.")


def test(tests: str, variable: str, place: Path, arguments: list[str]) -> int:
    """Run the tests in that folder, which find the packages by the variable; pytest's exit code."""
    root = Path(__file__).resolve().parent.parent
    words = [sys.executable, "-m", "pytest", tests, *arguments]
    return subprocess.run(words, cwd=root, env={**os.environ, variable: str(place)}, check=False).returncode
