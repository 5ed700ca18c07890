"""The JSON schemas of the tools, as plain data: the list of tools is answered before anything else is loaded.

Every word of them is paid for in each session, so only what a name cannot say has a description.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

# `records.registry` has the kinds; it is not imported here, for it would load msgspec before the handshake.
KINDS = (
    "decision", "trial", "attempt", "hotfile", "pattern", "issue", "issuenote", "hypothesis", "fix", "note", "lesson",
)  # fmt: skip
OUTCOMES = ("failed", "partial", "worked")
# `index.documents` has the sources.
SOURCES = ("entry", "ticket", "run_record", "commit", "pull_request", "session", "lesson")
ACTIONS = ("supersede", "confirm", "retire", "contest")

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
ENTRIES: Schema = {"type": "array", "items": {"type": "object"}}


def said(description: str, **schema: Any) -> Schema:
    """A text with a description; `schema` overrides its type."""
    return {"type": "string", **schema, "description": description}


PROJECT_PATH = said("A folder of the project; needed if the server is bound to none")

GET: Schema = {
    "type": "object",
    "properties": {"project_path": PROJECT_PATH, "kind": {"type": "string", "enum": list(KINDS)}},
    "additionalProperties": False,
}

SEARCH: Schema = {
    "type": "object",
    "properties": {
        "query": said("Words, identifiers, an error"),
        "project_path": TEXT,
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "kind": TEXT,
        "source": {"type": "string", "enum": list(SOURCES)},
        "path": said("Only what cites this file or folder"),
        "files": {**TEXTS, "description": "Rank what shares these first; default: what is changing"},
        "standing": said("Instead of what counts now: superseded, retired, rejected, expired or proposed"),
    },
    "required": ["query"],
    "additionalProperties": False,
}

BRIEF: Schema = {
    "type": "object",
    "properties": {
        "files": {**TEXTS, "description": "Default: what is changing"},
        "budget": {"type": "integer", "minimum": 20, "maximum": 20_000, "description": "Tokens"},
        "project_path": TEXT,
    },
    "additionalProperties": False,
}

PRECHECK: Schema = {
    "type": "object",
    "properties": {
        "files": {**TEXTS, "description": "About to change"},
        "intent": said("What you mean to do"),
        "diff": TEXT,
        "project_path": TEXT,
    },
    "required": ["files"],
    "additionalProperties": False,
}

CASE: Schema = {
    "type": "object",
    "properties": {
        "id": said("Or outside number (#717); without it: the open cases"),
        "project_path": TEXT,
    },
    "additionalProperties": False,
}

# With the write role a case can be opened, too.
CASE_WRITE: Schema = {
    "type": "object",
    "properties": {
        **CASE["properties"],
        "summary": said("Opens a new case: what is wrong"),
        "location": TEXT,
    },
    "additionalProperties": False,
}

STATUS: Schema = {"type": "object", "properties": {"project_path": TEXT}, "additionalProperties": False}

QUERY: Schema = {
    "type": "object",
    "properties": {
        "sql": said("DuckDB's dialect"),
        "project_path": TEXT,
        "rows": {"type": "integer", "minimum": 1, "maximum": 1000},
    },
    "required": ["sql"],
    "additionalProperties": False,
}

RECORD: Schema = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": list(KINDS)},
        "summary": said("One line"),
        "detail": TEXT,
        "file_refs": {**TEXTS, "description": "path, path:10-20 or path#symbol"},
        "project_path": TEXT,
        "rationale": TEXT,
        "alternatives_rejected": TEXTS,
        "outcome": {"type": "string", "enum": list(OUTCOMES)},
        "failure_mode": TEXT,
        "command": TEXT,
        "path": said("Of a hotfile"),
        "name": TEXT,
        "description": TEXT,
        "examples": TEXTS,
        "issue": said("Id or outside number"),
        "observation": TEXT,
        "location": TEXT,
        "libraries": {**TEXTS, "description": "pydantic@>=2"},
        "aliases": {**TEXTS, "description": "Other words for it"},
        "ticket": TEXT,
        "scope": said("A package's folder"),
        "supersedes": {**TEXTS, "description": "Ids that this one replaces"},
        "valid_from": TEXT,
        "valid_until": TEXT,
        "decay_days": {"type": "integer"},
        "revisit_when": TEXT,
    },
    "required": ["kind", "summary"],
    "additionalProperties": False,
}

REVISE: Schema = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(ACTIONS)},
        "id": said("Its last 6 characters will do"),
        "project_path": TEXT,
        "reason": said("To retire or contest"),
        "by": said("supersede: id of the entry that replaces it"),
        "summary": said("supersede without by: the new entry"),
        "detail": TEXT,
        "rationale": TEXT,
        "file_refs": TEXTS,
        "against": said("contest: id of the other side"),
    },
    "required": ["action", "id"],
    "additionalProperties": False,
}

# No property is required: a refusal has `error` and lacks the rest, and some clients hold it to the schema too.
LIST: Schema = {"type": "array"}
FOUND: Schema = {"type": "object", "properties": {"entries": ENTRIES}}
SEARCHED: Schema = {"type": "object", "properties": {"hits": ENTRIES, "instead": LIST}}
BRIEFED: Schema = {"type": "object", "properties": {"text": TEXT}}
CHECKED: Schema = {"type": "object", "properties": {"findings": LIST, "unknown": LIST}}
CASED: Schema = {"type": "object", "properties": {"status": TEXT, "entries": LIST}}
FIGURES: Schema = {"type": "object"}
ROWS: Schema = {"type": "object", "properties": {"columns": TEXTS, "rows": LIST}}
WRITTEN: Schema = {
    "type": "object",
    "properties": {"status": TEXT, "id": TEXT, "conflicts": LIST, "next_calls": LIST},
}
