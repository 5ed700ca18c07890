"""Where the history lies, and how a new one takes the place of the old.

Promises:

* A reader has a whole history or none: a file is complete, closed and checkpointed before the pointer names it.
* A file never changes once it is named. A new one has a new name, since a rebuilt file that is renamed over one with
  a write-ahead log left by a crash brings old rows back (DuckDB 1.5) or cannot be opened (DuckDB 2).
* A crash at any point leaves the old one. What it left half built is swept by the next one who builds.

The caller holds a lock around `Building`; readers need none.
"""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from backstory.errors import BackstoryError
from backstory.history.schema import VERSION

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_POINTER = "current.json"
_SUFFIX = ".duckdb"
# The caller's.
_LOCK = "lock"
_NAME = "history-"
_BUILDING = "building-"
_TRIES = 20
# What one build may hold in memory: DuckDB spills to its folder beyond it.
_BUILD_MEMORY = "64MB"
# What a new history is called while it is built. Rows in groups of this size go to the disk as they come: at 82,000
# commits that takes a third less time than one group, and zstd makes 26 MB of 65.
ATTACHED = "building"
_ROW_GROUP = 32_768


class Damaged(Exception):
    """The current history cannot be gone on from: one has to be made from nothing."""


class Pointer(NamedTuple):
    """Which file is current, the signature of all that it was made from, by group, and its `index_meta`."""

    file: str
    inputs: dict[str, str]
    meta: dict[str, str]


def current(folder: str) -> Pointer | None:
    """The current history in `folder`; None when there is none, or none of this version."""
    try:
        with open(os.path.join(folder, _POINTER), encoding="utf-8") as file:
            data = json.load(file)
        if data["version"] != VERSION or not os.path.exists(os.path.join(folder, data["file"])):
            return None
        inputs, meta = ({str(key): str(value) for key, value in data[name].items()} for name in ("inputs", "meta"))
        return Pointer(str(data["file"]), inputs, meta)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def was_used(folder: str) -> bool:
    """Whether a history was ever built in `folder`, though it may be gone: nobody who has not asked for one pays."""
    return os.path.isdir(folder)


def open_reader(folder: str, config: dict[str, Any] | None = None) -> DuckDBPyConnection:
    """A read-only connection to the current history. `BackstoryError` when there is none.

    The file may be swept between the look at the pointer and its opening: then the pointer names another.
    """
    import duckdb

    error: Exception | None = None
    for _ in range(_TRIES):
        pointer = current(folder)
        if pointer is None:
            break
        try:
            return duckdb.connect(os.path.join(folder, pointer.file), read_only=True, config=config or {})
        except duckdb.IOException as exc:
            error = exc
        except duckdb.Error as exc:
            error = exc
            break
    if error is None:
        raise BackstoryError("There is no history yet.", hint="Run `backstory history refresh`.")
    raise BackstoryError(
        f"The history cannot be opened: {str(error).splitlines()[0]}",
        hint="Run `backstory history refresh --rebuild`.",
    ) from error


class Building:
    """A history that is being built aside: empty, or begun as a copy of the current one.

    Used as a context; unless `publish` was called, nothing of it is left. `Damaged` when the copy is no history.
    """

    def __init__(self, folder: str, base: Pointer | None = None) -> None:
        self.folder, self._base = folder, base
        os.makedirs(folder, exist_ok=True)
        _sweep_unfinished(folder)
        self._path = os.path.join(folder, f"{_BUILDING}{os.getpid()}-{_random()}{_SUFFIX}")
        if base is not None:
            import shutil  # it loads what unpacks archives: not for those who only ask which history is current

            shutil.copyfile(os.path.join(folder, base.file), self._path)
        self._db: DuckDBPyConnection | None = None

    def __enter__(self) -> DuckDBPyConnection:
        import duckdb

        spill = self._path + ".tmp"
        config: dict[str, Any] = {"memory_limit": _BUILD_MEMORY, "threads": 1, "temp_directory": spill}
        try:
            self._db = duckdb.connect(config=config)
            place = self._path.replace("'", "''")
            # Of a copy too: opened with another size, all of it would be written anew when it is published.
            self._db.execute(f"ATTACH '{place}' AS {ATTACHED} (ROW_GROUP_SIZE {_ROW_GROUP})")
            self._db.execute(f"USE {ATTACHED}")
            if self._base is not None:
                self._db.execute("SELECT count(*) FROM index_meta")
            self._db.execute("SET force_compression = 'zstd'")
        except duckdb.Error as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self._db

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        for path in (self._path, self._path + ".wal"):
            _unlink(path)
        _remove_folder(self._path + ".tmp")
        if self._base is not None and error is not None:
            import duckdb

            if isinstance(error, duckdb.Error):
                raise Damaged(str(error).splitlines()[0][:200]) from error

    def publish(self, inputs: dict[str, str], meta: dict[str, str] | None = None) -> Pointer:
        """Close it, give it its name, and let the pointer name it. Older ones are swept."""
        assert self._db is not None
        self._db.execute(f"CHECKPOINT {ATTACHED}")
        self._db.close()
        self._db = None
        name = f"{_NAME}{_random()}{_SUFFIX}"
        _sync(self._path)
        os.replace(self._path, os.path.join(self.folder, name))
        _write_pointer(self.folder, {"version": VERSION, "file": name, "inputs": inputs, "meta": meta or {}})
        _sweep_old(self.folder, name)
        return Pointer(name, inputs, meta or {})


def forget(folder: str) -> None:
    """Delete the history and all that was kept beside it: it is made again by the next refresh."""
    if not was_used(folder):
        return
    # The pointer first: without it nothing else is found. Whoever holds the lock goes on holding it.
    for name in [_POINTER, *_names(folder)]:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            _remove_folder(path)
        elif name != _LOCK:
            _unlink(path)


def _random() -> str:
    return os.urandom(8).hex()


def _write_pointer(folder: str, data: dict[str, Any]) -> None:
    path = os.path.join(folder, _POINTER)
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w", encoding="utf-8") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def _sync(path: str) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _sweep_unfinished(folder: str) -> None:
    for name in _names(folder):
        if name.startswith((_BUILDING, _POINTER + ".")):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                _remove_folder(path)
            else:
                _unlink(path)


def _sweep_old(folder: str, keep: str) -> None:
    for name in _names(folder):
        if name.startswith(_NAME) and name != keep:
            _unlink(os.path.join(folder, name))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # absent, or open in another process on Windows: the next one tries again
        pass


def _remove_folder(path: str) -> None:
    for name in _names(path):
        _unlink(os.path.join(path, name))
    try:
        os.rmdir(path)
    except OSError:
        pass
