"""`make test-clients`: install the coding agents that our hooks are tested in, and run those tests.

The folder is the one that TEST_CLIENTS names, or `backstory/test-clients` in the user's cache. What is there in the
right version is not installed again. Nothing is started but npm.
"""

import sys

import from_npm

# The versions that the tests were written against; a newer one is tried by changing it here.
PACKAGES = {"@anthropic-ai/claude-code": "2.1.332", "@openai/codex": "0.171.0"}


def main() -> int:
    """Install, then run the tests; pytest's exit code. Arguments go on to pytest."""
    place = from_npm.folder("TEST_CLIENTS", "test-clients")
    from_npm.install(place, PACKAGES)
    return from_npm.test("tests/real_clients", "TEST_CLIENTS", place, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
