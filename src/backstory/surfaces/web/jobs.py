"""Work that takes longer than a page may: run in a thread, its last result kept until the server ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from backstory.errors import BackstoryError
from backstory.project.fault_reports import keep_traceback


class Job:
    """One kind of work: whether it runs, when it ended (microseconds), and what came of it."""

    def __init__(self) -> None:
        self.running, self.ended_at = False, 0
        self.result: Any = None
        self.failed = ""


class Jobs:
    """The jobs of one server, by name. The same job does not run twice at a time."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Job:
        """The job of that name, run or not."""
        with self._lock:
            return self._jobs.setdefault(name, Job())

    def start(self, name: str, work: Callable[[], Any], clock: Callable[[], int]) -> None:
        """Run `work` unless it runs already."""
        job = self.get(name)
        with self._lock:
            if job.running:
                return
            job.running = True
        threading.Thread(target=_run, args=(job, work, clock), daemon=True).start()

    def state(self) -> str:
        """What changes when a job begins or ends."""
        with self._lock:
            return " ".join(f"{name}:{job.running}:{job.ended_at}" for name, job in sorted(self._jobs.items()))


def _run(job: Job, work: Callable[[], Any], clock: Callable[[], int]) -> None:
    try:
        job.result, job.failed = work(), ""
    except BackstoryError as error:
        job.failed = f"{error.message} {error.hint}".strip()
    except Exception as error:  # noqa: BLE001 (a thread has nobody above it)
        place = keep_traceback(error)
        job.failed = f"A fault of backstory ({type(error).__name__}); the traceback is in {place}."
    finally:
        job.ended_at, job.running = clock(), False
