"""`make test-page`: install what drives a browser, and test the page in it.

Playwright comes from PyPI, axe-core from npm into the folder that TEST_PAGE names (or `backstory/test-page` in the
user's cache). The browser is the Chromium on PATH; without one, Playwright is asked for its own.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import from_npm

# What calls a fault serious changes with its version.
PACKAGES = {"axe-core": "4.14.1"}


def main() -> int:
    """Install, then run the tests; pytest's exit code. Arguments go on to pytest."""
    place = from_npm.folder("TEST_PAGE", "test-page")
    from_npm.install(place, PACKAGES)
    root = Path(__file__).resolve().parent.parent
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, "--editable", ".[browser]"], cwd=root, check=True)
    if shutil.which("chromium") is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)
    return from_npm.test("tests/in_browser", "TEST_PAGE", place, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
