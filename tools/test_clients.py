"""`make test-clients`: install the coding agents that our hooks are tested in, and run those tests.

The folder is the one that TEST_CLIENTS names, or `backstory/test-clients` in the user's cache. What is there in the
right version is not installed again. Nothing is started but npm, with the scripts of packages left alone.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The versions that the tests were written against; a newer one is tried by changing it here.
PACKAGES = {"@anthropic-ai/claude-code": "2.1.332", "@openai/codex": "0.171.0"}


def folder() -> Path:
    """Where the clients are installed."""
    given = os.environ.get("TEST_CLIENTS")
    if given:
        return Path(given).expanduser().resolve()
    cache = os.environ.get("XDG_CACHE_HOME")
    return Path(cache if cache else Path.home() / ".cache") / "backstory" / "test-clients"


def installed(place: Path) -> dict[str, str]:
    """Which versions are there."""
    found = {}
    for name in PACKAGES:
        try:
            data = json.loads((place / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
            found[name] = str(data["version"])
        except (OSError, ValueError, KeyError):
            continue
    return found


def install(place: Path) -> None:
    """Bring the clients there by npm. `SystemExit` with what to do where that fails."""
    if installed(place) == PACKAGES:
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("The clients come from npm, and there is none on PATH. Install Node, then run this again.")
    place.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    print(f"Installing {' '.join(wanted)} into {place}", flush=True)
    # The programs are binaries inside the packages: no script has to run, and no version of Node matters.
    flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--engine-strict=false"]
    done = subprocess.run([npm, "install", "--prefix", str(place), *flags, *wanted], cwd=place, check=False)
    if done.returncode != 0 or installed(place) != PACKAGES:
        sys.exit("npm could not install the clients; its messages are above.")


def main() -> int:
    """Install, then run the tests; pytest's exit code. Arguments go on to pytest."""
    place = folder()
    install(place)
    root = Path(__file__).resolve().parent.parent
    env = {**os.environ, "TEST_CLIENTS": str(place)}
    words = [sys.executable, "-m", "pytest", "tests/real_clients", *sys.argv[1:]]
    return subprocess.run(words, cwd=root, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
