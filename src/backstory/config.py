"""Finds the project and reads its settings.

`locate` walks up from a folder and says where a project's log, journal and derived files are; it runs no process and
imports only `os`, because a hook waits for it. `load` adds identity and settings from `project.toml`.

Identity is the file `.backstory/project.toml`, or its twin beside the journal (private mode, and work trees whose
commit is older than the memory), never a path or a remote. A git repository is a boundary: the memory of an outer
folder does not reach into an inner repository.
"""

from __future__ import annotations

import os

from backstory.errors import BackstoryError, Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = ".backstory"
MARKER = "project.toml"
BRIEF_TOKENS = 250
INIT_HINT = "Run `backstory init` in the project's folder."


class Places:
    """Where things are. Paths are absolute and real; `git_dir` and `common_dir` are "" without git."""

    __slots__ = ("common_dir", "git_dir", "marker", "root")

    def __init__(self, root: str, git_dir: str = "", common_dir: str = "", marker: str = "") -> None:
        self.root, self.git_dir, self.common_dir, self.marker = root, git_dir, common_dir, marker

    @property
    def log_dir(self) -> str:
        """The committed log of this work tree."""
        return os.path.join(self.root, FOLDER, "log")

    @property
    def shared_dir(self) -> str:
        """What all work trees of the clone share: journal, lock, the marker's twin. Without git: the derived folder."""
        return os.path.join(self.common_dir, "backstory") if self.common_dir else self.derived_dir

    @property
    def journal_dir(self) -> str:
        """The clone's journal; "" without git, where the log is all there is."""
        return os.path.join(self.shared_dir, "journal") if self.common_dir else ""

    @property
    def derived_dir(self) -> str:
        """Files that can be deleted at any time, and the writer's id."""
        if self.git_dir:
            return os.path.join(self.git_dir, "backstory")
        return cache_dir(self.root)

    @property
    def index_path(self) -> str:
        """The SQLite index of this work tree."""
        return os.path.join(self.derived_dir, "index.sqlite")

    @property
    def history_dir(self) -> str:
        """The DuckDB history of this work tree."""
        return os.path.join(self.derived_dir, "history")

    @property
    def twin(self) -> str:
        """The marker's copy beside the journal; "" without git."""
        return os.path.join(self.shared_dir, MARKER) if self.common_dir else ""

    def marker_signature(self) -> str:
        """Changes whenever the marker in use does."""
        try:
            status = os.stat(self.marker)
        except OSError:
            return ""
        return f"{self.marker}:{status.st_size}:{status.st_mtime_ns}"


class Settings:
    """Settings with their defaults; every one can be set in `project.toml`."""

    # What a brief needs: kept in the index, where a hook reads it.
    BRIEF = (
        "brief_tokens", "file_match", "recency_base", "event_match", "relevance_floor", "hook_seconds", "note_tokens",
        "hook_refuses",
    )  # fmt: skip
    # What the project wrote elsewhere: folders and globs of tickets and decision records, cached files, mappings.
    HISTORY = ("tickets", "decisions", "pull_requests", "states", "line_counts", "embeddings")
    __slots__ = (*BRIEF, *HISTORY, "capture", "churn_commits", "decay_days")

    def __init__(self) -> None:
        self.brief_tokens = BRIEF_TOKENS
        self.file_match = 4.0
        self.recency_base = 0.9
        self.event_match = 2.0
        self.relevance_floor = 0.0
        self.churn_commits = 3
        self.hook_seconds = 2.0
        # What an agent is told of one file, and from which level of a check on an edit is refused once: "" for never.
        self.note_tokens = 120
        self.hook_refuses = ""
        # Whether sessions that end propose what they learned.
        self.capture = True
        self.decay_days: dict[str, int] = {}
        self.tickets: tuple[str, ...] = ()
        self.decisions: tuple[str, ...] = ()
        self.pull_requests: tuple[str, ...] = ()
        # Each with `path`, and `time`, `state`, `subject` where the fields have other names than usual.
        self.states: tuple[dict[str, str], ...] = ()
        self.line_counts = False
        self.embeddings: dict[str, str] = {}


class Config:
    """A project that was found: its places, identity and settings."""

    __slots__ = ("also", "name", "places", "private", "project", "settings")

    def __init__(
        self, places: Places, project: str, name: str, private: bool, also: tuple[str, ...], settings: Settings
    ) -> None:
        self.places, self.project, self.name, self.private = places, project, name, private
        # Ids of memories that were joined into this one: two people ran `init` before they merged.
        self.also, self.settings = also, settings

    @property
    def root(self) -> str:
        """The work tree's folder."""
        return self.places.root


def home() -> str:
    """The user's home folder, real."""
    return os.path.realpath(os.path.expanduser("~"))


def _user_dir(variable: str, unix: str, mac: str, windows: str) -> str:
    given = os.environ.get(variable, "")
    if os.path.isabs(given):
        return os.path.join(given, "backstory")
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Local")
        return os.path.join(base, "backstory", windows)
    if os.uname().sysname == "Darwin":
        return os.path.join(os.path.expanduser("~"), "Library", mac, "backstory")
    return os.path.join(os.path.expanduser("~"), unix, "backstory")


def cache_dir(root: str) -> str:
    """The cache folder of the project at `root`: used without git, or where the git folder cannot be written."""
    from hashlib import blake2b

    name = blake2b(os.fsencode(os.path.normcase(root)), digest_size=8).hexdigest()
    return os.path.join(_user_dir("XDG_CACHE_HOME", ".cache", "Caches", "cache"), name)


def state_dir() -> str:
    """Where the last heads seen are kept, outside every project."""
    return _user_dir("XDG_STATE_HOME", ".local/state", "Application Support", "state")


def machine_dir() -> str:
    """Where the machine-wide log of shared lessons lies, outside every project."""
    return os.path.join(_user_dir("XDG_DATA_HOME", ".local/share", "Application Support", "data"), "global")


def git_places(folder: str) -> tuple[str, str] | None:
    """The git dir and common dir of the work tree whose top is `folder`, or None when it is no top of one."""
    entry = os.path.join(folder, ".git")
    if os.path.isdir(entry):
        git_dir = entry
    else:
        target = _first_line(entry)
        if not target.startswith("gitdir:"):
            return None
        git_dir = os.path.join(folder, target[7:].strip())
    if not os.path.isfile(os.path.join(git_dir, "HEAD")):
        return None
    git_dir = os.path.realpath(git_dir)
    common = _first_line(os.path.join(git_dir, "commondir"))
    return git_dir, os.path.realpath(os.path.join(git_dir, common)) if common else git_dir


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def walk_up(start: str) -> list[str]:
    """The real folder of `start` (the nearest that exists) and all above it."""
    folder = os.path.realpath(start)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    found = [folder]
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        found.append(folder)
    return found


def surroundings(start: str) -> Places | None:
    """The git work tree around `start` with no regard to memory, or None outside of git."""
    for folder in walk_up(start):
        found = git_places(folder)
        if found is not None:
            return Places(folder, found[0], found[1])
    return None


def find(start: str) -> Places | None:
    """The project around `start`, or None. The home folder and the root are never a project."""
    for folder in walk_up(start):
        if folder == home() or os.path.dirname(folder) == folder:
            return None
        git = git_places(folder)
        places = Places(folder, *git) if git else Places(folder)
        for marker in (os.path.join(folder, FOLDER, MARKER), places.twin):
            if marker and os.path.isfile(marker):
                places.marker = marker
                return places
        if git:
            return None
    return None


def locate(start: str) -> Places:
    """The project around `start`; `BackstoryError` (no project) names what was found instead."""
    places = find(start)
    if places is not None:
        return places
    below = projects_below(start)
    if below:
        listed = "\n".join(f"  {path}" for path in below)
        raise BackstoryError(
            f"{os.path.realpath(start)} is above several projects:\n{listed}",
            hint="Go into one of them, or name it with `--project PATH`.",
            code=Exit.NO_PROJECT,
        )
    around = surroundings(start)
    where = f"the git work tree {around.root}" if around else f"{os.path.realpath(start)} or above it"
    raise BackstoryError(f"There is no backstory memory in {where}.", hint=INIT_HINT, code=Exit.NO_PROJECT)


def projects_below(start: str, limit: int = 20, *, repositories: bool = False) -> list[str]:
    """Folders one or two levels below `start` that carry a memory, at most `limit`, sorted.

    With `repositories`, those too that are the top of a git work tree.
    """
    top, found = os.path.realpath(start), []
    for first in _folders(top):
        for folder in [first, *_folders(first)]:
            git = git_places(folder)
            places = Places(folder, *git) if git else Places(folder)
            markers = (os.path.join(folder, FOLDER, MARKER), places.twin)
            if (git and repositories) or any(os.path.isfile(marker) for marker in markers if marker):
                found.append(folder)
                if len(found) == limit:
                    return sorted(found)
    return sorted(found)


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [e.path for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")]
    except OSError:
        return []
    return sorted(names)[:200]


def load(start: str) -> Config:
    """The project around `start` with its settings; `BackstoryError` when there is none or its marker is unreadable."""
    return read_marker(locate(start))


def read_marker(places: Places) -> Config:
    """Identity and settings of a located project."""
    import tomllib

    try:
        with open(places.marker, "rb") as file:
            data = tomllib.load(file)
        # The marker comes with a clone, from whoever wrote it: its name goes before a model.
        project, name = str(data["id"]), title_of(str(data.get("name") or os.path.basename(places.root)))
        settings = _settings(data)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BackstoryError(
            f"{places.marker} cannot be read as settings: {error}",
            hint="Run `backstory doctor --fix`, or put it back: `git checkout HEAD -- .backstory/project.toml`.",
            code=Exit.DAMAGED,
        ) from error
    also = tuple(str(item) for item in data.get("also", ()))
    return Config(places, project, name, bool(data.get("private", False)), also, settings)


def title_of(text: str) -> str:
    """A project name for display: printable, without marks that could close the brief's fence."""
    clean = "".join(letter for letter in text if letter.isprintable() and letter not in "<>\"'`[]\\")
    return " ".join(clean.split())[:60] or "project"


def _settings(data: dict[str, Any]) -> Settings:
    settings = Settings()
    given = {**data.get("score", {}), **data.get("freshness", {}), **data.get("brief", {}), **data.get("hooks", {})}
    given |= {name: value for name, value in data.get("sessions", {}).items() if name == "capture"}
    names = {"budget": "brief_tokens", "seconds": "hook_seconds", "refuse": "hook_refuses"}
    for name, value in given.items():
        field = names.get(name, name)
        if field not in Settings.__slots__:
            continue
        current = getattr(settings, field)
        if field in Settings.HISTORY:
            continue
        if isinstance(current, dict):
            settings.decay_days = {str(kind): int(days) for kind, days in dict(value).items()}
        else:
            setattr(settings, field, type(current)(value))
    if settings.hook_refuses not in ("", "info", "warn", "block"):
        raise ValueError(f"hooks.refuse is {settings.hook_refuses[:40]!r}, and none of info, warn, block")
    _read_history(settings, dict(data.get("history", {})))
    return settings


def _read_history(settings: Settings, given: dict[str, Any]) -> None:
    """The section `history`: lists of places, tables of mappings. `TypeError` for another shape."""
    for name in ("tickets", "decisions", "pull_requests"):
        places = given.get(name, ())
        if isinstance(places, str) or not all(isinstance(place, str) for place in places):
            raise TypeError(f"history.{name} is no list of texts")
        setattr(settings, name, tuple(places))
    states = given.get("states", ())
    if not all(isinstance(item, str) or (isinstance(item, dict) and "path" in item) for item in states):
        raise TypeError("history.states holds neither paths nor tables with a path")
    settings.states = tuple(
        {"path": item} if isinstance(item, str) else {str(key): str(value) for key, value in item.items()}
        for item in states
    )
    settings.line_counts = bool(given.get("line_counts", False))
    settings.embeddings = {str(key): str(value) for key, value in dict(given.get("embeddings", {})).items()}
