"""A fault of our own leaves its traceback in the user's state folder, for a report."""

from __future__ import annotations

import os


def keep_traceback(error: BaseException) -> str:
    """Write the traceback into the state folder; "" when that fails."""
    import tempfile
    import time
    import traceback

    from backstory.config import state_dir

    for base in (state_dir(), tempfile.gettempdir()):
        path = os.path.join(base, "faults", f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.txt")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write("".join(traceback.format_exception(error)))
            return path
        except OSError:
            continue
    return ""
