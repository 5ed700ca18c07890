"""Counts the edits of files. Pure: the clock is passed in. It holds a bounded number of files, whatever happens."""

from __future__ import annotations

from collections import OrderedDict, deque

from backstory.project.watching.settings import MOST_COUNTED, WatchSettings


class Churn:
    """Edits by file, the files edited last at the end; those that nobody edited for longest go first."""

    def __init__(self, settings: WatchSettings, most: int = MOST_COUNTED) -> None:
        self._settings, self._most = settings, most
        self._edits: OrderedDict[str, deque[float]] = OrderedDict()
        # When each was last saved: a burst goes on as long as saves follow each other.
        self._saved: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._edits)

    def saved(self, path: str, now_seconds: float) -> int:
        """Note that a file was saved; the edits within the window, or 0 where it belongs to the edit before."""
        settings = self._settings
        last = self._saved.get(path)
        edits = self._edits.setdefault(path, deque(maxlen=settings.edits))
        self._edits.move_to_end(path)
        self._saved[path] = now_seconds
        # A clock that went back says nothing of the gap.
        burst = last is not None and 0 <= now_seconds - last < settings.gap_seconds
        self._sweep()
        if burst:
            return 0
        while edits and not 0 <= now_seconds - edits[0] <= settings.minutes * 60:
            edits.popleft()
        edits.append(now_seconds)
        return len(edits)

    def is_churn(self, edits: int) -> bool:
        """Whether so many edits within the window are churn."""
        return edits >= self._settings.edits

    def moved(self, old: str, new: str) -> None:
        """A file has another name; its edits go with it."""
        if old in self._edits:
            self._edits[new] = self._edits.pop(old)
            self._saved[new] = self._saved.pop(old)

    def forget(self, path: str) -> None:
        """Begin to count anew."""
        self._edits.pop(path, None)
        self._saved.pop(path, None)

    def _sweep(self) -> None:
        while len(self._edits) > self._most:
            path, _ = self._edits.popitem(last=False)
            del self._saved[path]
