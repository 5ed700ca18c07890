"""Claude Code: what its hooks send and take.

Input (stdin): `session_id, transcript_path, cwd, hook_event_name, source`. Output of SessionStart (exit 0):
`{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "..."}}`. Measured on 2.1.332: a value
over 10,000 characters is cut to 2 KB; the brief is far below.
"""

from __future__ import annotations

# The core of `sqlite3`: the module around it imports `datetime` and `collections`, 3 ms that a hook has no use for.
import _sqlite3 as sqlite3
import os

from backstory.project.session_start import session_brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_FIELDS = ("cwd", "session_id", "source")


def session_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The envelope with the brief, or nothing; and notices for stderr."""
    fields = _read(stdin)
    cwd = fields["cwd"] or os.environ.get("CLAUDE_PROJECT_DIR", "") or os.getcwd()
    text, notices = session_brief(cwd, fields["session_id"], now)
    return (_envelope("SessionStart", text) if text else b""), notices


def _read(stdin: bytes) -> dict[str, str]:
    """The fields that we use, "" where one is missing or no text. SQLite reads the JSON: `json` costs 10 ms."""
    text = stdin.decode("utf-8", "replace").lstrip("\ufeff").strip()
    db = sqlite3.connect(":memory:")
    try:
        if not text or not db.execute("SELECT json_valid(?)", (text,)).fetchone()[0]:
            return dict.fromkeys(_FIELDS, "")
        row = db.execute(
            f"SELECT {', '.join(f'json_extract(?1, {path!r})' for path in ('$.cwd', '$.session_id', '$.source'))}",
            (text,),
        ).fetchone()
    except sqlite3.OperationalError:
        return _read_without_json1(text)
    finally:
        db.close()
    return {name: value if isinstance(value, str) else "" for name, value in zip(_FIELDS, row, strict=True)}


def _read_without_json1(text: str) -> dict[str, str]:
    """For a SQLite that was built without its JSON functions."""
    import json

    try:
        data = json.loads(text)
    except ValueError:
        data = None
    found = data if isinstance(data, dict) else {}
    return {name: value if isinstance(value := found.get(name), str) else "" for name in _FIELDS}


def _envelope(event: str, text: str) -> bytes:
    db = sqlite3.connect(":memory:")
    try:
        row = db.execute(
            "SELECT json_object('hookSpecificOutput', json_object('hookEventName', ?, 'additionalContext', ?))",
            (event, text),
        ).fetchone()
        return str(row[0]).encode("utf-8", "replace") + b"\n"
    except sqlite3.OperationalError:
        import json

        body = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    finally:
        db.close()


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {"SessionStart": session_start}
