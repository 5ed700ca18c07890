"""Resource templates and prompts as a client lists them: plain data, like the tools."""

from __future__ import annotations

from typing import Any

_PLACE = "{?project_path}"
TEMPLATES: list[dict[str, Any]] = [
    {
        "uriTemplate": f"backstory://entry/{{id}}{_PLACE}",
        "name": "entry",
        "title": "An entry with its history",
        "description": "One entry in full, its standing said. The last 6 characters of an id will do.",
        "mimeType": "text/plain",
    },
    {
        "uriTemplate": f"backstory://case/{{id}}{_PLACE}",
        "name": "case",
        "title": "A case",
        "description": "An issue with its hypotheses, trials, notes and fix.",
        "mimeType": "text/plain",
    },
    {
        "uriTemplate": f"backstory://sessions{_PLACE}",
        "name": "sessions",
        "title": "The last sessions",
        "description": "What agents did in this project, from the transcripts on this machine.",
        "mimeType": "text/plain",
    },
    {
        "uriTemplate": f"backstory://session/{{id}}{_PLACE}",
        "name": "session",
        "title": "A session",
        "description": "What was asked and done in it, what failed, which entries came of it.",
        "mimeType": "text/plain",
    },
    {
        "uriTemplate": f"backstory://resume/{{id}}{_PLACE}",
        "name": "resume",
        "title": "The hand-over of a session",
        "description": "What the next session needs of it. Without an id, of the last one.",
        "mimeType": "text/plain",
    },
    {
        "uriTemplate": f"backstory://brief{_PLACE}",
        "name": "brief",
        "title": "The brief of a project",
        "description": "The few lines of the memory that matter for what is changing now.",
        "mimeType": "text/plain",
    },
]

_PROJECT = {
    "name": "project_path",
    "description": "A folder of the project; needed if the server is bound to none",
    "required": False,
}
PROMPTS: list[dict[str, Any]] = [
    {
        "name": "open_case",
        "title": "Open a case",
        "description": "Begin on something that is wrong: what is known about it, then the case.",
        "arguments": [
            {"name": "summary", "description": "What is wrong, in one line", "required": True},
            {"name": "location", "description": "Where it shows: a file, if you know it", "required": False},
            _PROJECT,
        ],
    },
    {
        "name": "hand_over",
        "title": "Hand over",
        "description": "End a session: what it recorded, what is open, and what is still missing in the memory.",
        "arguments": [_PROJECT],
    },
    {
        "name": "take_over",
        "title": "Take over",
        "description": "Begin where a session stopped: what it was asked, what it did, what failed, where it stopped.",
        "arguments": [
            {"name": "session", "description": "Its id; the last one if you leave it out", "required": False},
            _PROJECT,
        ],
    },
]
