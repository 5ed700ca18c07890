"""`python -m backstory` is the command line."""

from __future__ import annotations

from backstory.surfaces.cli.main import main

if __name__ == "__main__":
    main()
