"""What a client sends on stdin, and what it takes on stdout. SQLite reads and writes the JSON: `json` costs 10 ms."""

from __future__ import annotations

# The core of `sqlite3`: the module around it imports `datetime` and `collections`, 3 ms that a hook has no use for.
import _sqlite3 as sqlite3
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# An object or a list would come out as its JSON text.
_PLAIN = "SELECT CASE WHEN json_type(?1, ?2) NOT IN ('object', 'array') THEN json_extract(?1, ?2) END"


class Payload:
    """One JSON object that a client sent. Anything else, or nothing, is an object without fields."""

    def __init__(self, stdin: bytes) -> None:
        self._text = stdin.decode("utf-8", "replace").lstrip("\ufeff").strip() or "{}"
        self._db = sqlite3.connect(":memory:")
        self._data: Any = None
        try:
            if not self._db.execute("SELECT json_valid(?)", (self._text,)).fetchone()[0]:
                self._text = "{}"
        except sqlite3.OperationalError:
            # A SQLite that was built without its JSON functions.
            self._data = _loaded(self._text)

    def text(self, *paths: str) -> str:
        """The text at the first of `paths` (`cwd`, `tool_input.file_path`) that holds one, else ""."""
        for path in paths:
            found = self._value(path)
            if isinstance(found, str) and found:
                return found
        return ""

    def number(self, path: str) -> int:
        """The number at a path, 0 where there is none."""
        found = self._value(path)
        return int(found) if isinstance(found, (int, float)) else 0

    def texts(self, path: str, inside: str = "") -> list[str]:
        """The texts of the list at `path`; with `inside` those at that path of each item."""
        if self._data is not None:
            items = _at(self._data, path)
            found = [_at(item, inside) if inside else item for item in items] if isinstance(items, list) else []
            return [item for item in found if isinstance(item, str)]
        what = "json_extract(value, ?3)" if inside else "value"
        query = f"SELECT {what} FROM json_each(?1, ?2) WHERE json_type(?1, ?2) = 'array'"
        given = [self._text, f"$.{path}", *([f"$.{inside}"] if inside else [])]
        try:
            rows = self._db.execute(query, given).fetchall()
        except sqlite3.OperationalError:
            return []
        return [row[0] for row in rows if isinstance(row[0], str)]

    @property
    def cwd(self) -> str:
        """Where the session works."""
        given = self.text("cwd", "workspace_roots[0]", "workspaceRoots[0]") or _project_folder()
        return given or os.getcwd()

    def _value(self, path: str) -> Any:
        if self._data is not None:
            return _at(self._data, path)
        try:
            return self._db.execute(_PLAIN, (self._text, f"$.{path}")).fetchone()[0]
        except (sqlite3.OperationalError, OverflowError):
            return None


def _project_folder() -> str:
    names = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")
    return next((os.environ[name] for name in names if os.environ.get(name)), "")


def _loaded(text: str) -> Any:
    import json

    try:
        data = json.loads(text)
    except ValueError:
        data = {}
    return data if isinstance(data, dict) else {}


def _at(data: Any, path: str) -> Any:
    for name in path.replace("[", ".[").split("."):
        if name.startswith("["):
            place = int(name[1:-1])
            data = data[place] if isinstance(data, list) and len(data) > place else None
        else:
            data = data.get(name) if isinstance(data, dict) else None
    return data


def envelope(**fields: Any) -> bytes:
    """A JSON object of texts, true and false, and objects of them, in one line; the order of the fields is kept."""
    db = sqlite3.connect(":memory:")
    try:
        sql, given = _object(fields)
        return str(db.execute(f"SELECT {sql}", given).fetchone()[0]).encode("utf-8", "replace") + b"\n"
    except sqlite3.OperationalError:
        import json

        return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    finally:
        db.close()


def _object(fields: dict[str, Any]) -> tuple[str, list[str]]:
    parts: list[str] = []
    given: list[str] = []
    for name, value in fields.items():
        parts.append("?")
        given.append(name)
        if isinstance(value, bool):
            parts.append(f"json('{'true' if value else 'false'}')")
        elif isinstance(value, dict):
            inner, more = _object(value)
            parts.append(inner)
            given += more
        else:
            parts.append("?")
            given.append(str(value))
    return f"json_object({', '.join(parts)})", given
