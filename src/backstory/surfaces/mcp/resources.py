"""What a client can read by address: the brief, an entry, a case. Loaded with the first call, as the tools are.

An address carries the project as `project_path` behind a question mark where the server is bound to none.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from backstory.config import Config
from backstory.errors import BackstoryError, Exit
from backstory.project import answers
from backstory.project.cases import open_cases
from backstory.project.keeping import Keeper
from backstory.project.opened import Project
from backstory.records.hostile import fenced
from backstory.surfaces.mcp import asking, calls
from backstory.surfaces.mcp.answering import answered
from backstory.surfaces.mcp.replies import Reply, refusal
from backstory.surfaces.mcp.scope import Scope

SCHEME, MIME = "backstory", "text/plain"
LISTED_CASES = 20
_KNOWN = (
    "backstory://brief, backstory://entry/ID, backstory://case/ID, backstory://sessions, backstory://session/ID,"
    " backstory://resume, backstory://resume/ID"
)
# Kinds of addresses: whether they name something, may, or do not.
_NAMES = {"brief": (False,), "entry": (True,), "case": (True,), "sessions": (False,), "session": (True,),
          "resume": (True, False)}  # fmt: skip


def listed(scope: Scope, keeper: Keeper) -> list[dict[str, Any]]:
    """The brief of each project in reach; of a project that the server is bound to, its open cases too."""
    bound = scope.bound()
    found = [_brief(config, "" if bound else config.root) for config in scope.reach()]
    if bound is None:
        return found
    with keeper.opened(scope.resolve()) as project:
        for item in open_cases(project, LISTED_CASES):
            found.append(
                {
                    "uri": address("case", item.id),
                    "name": f"case {item.short}",
                    "title": fenced(item.summary, 200),
                    "description": f"An open case of {bound.name}.",
                    "mimeType": MIME,
                }
            )
    return found


def _brief(config: Config, path: str) -> dict[str, Any]:
    return {
        "uri": address("brief", project_path=path),
        "name": "brief" if not path else f"brief of {config.name}",
        "title": f"Brief of {config.name}",
        "description": "The few lines of the memory that matter for what is changing now.",
        "mimeType": MIME,
    }


def address(kind: str, ref: str = "", project_path: str = "") -> str:
    """The address of a resource."""
    place = f"{SCHEME}://{kind}" + (f"/{quote(ref, safe='')}" if ref else "")
    return f"{place}?{urlencode({'project_path': project_path})}" if project_path else place


def read(scope: Scope, keeper: Keeper, uri: str) -> Reply:
    """What stands at `uri`; a failed reply where nothing does."""
    try:
        kind, ref, path = _parts(uri)
    except BackstoryError as error:
        return refusal(error)
    return answered(scope, keeper, path, lambda project: _read(project, kind, ref))


def _read(project: Project, kind: str, ref: str) -> Reply:
    if kind == "brief":
        return asking.brief(project, [], 0)
    if kind in ("sessions", "session", "resume"):
        from backstory.surfaces.mcp import sessions

        return {"sessions": lambda: sessions.listed(project), "session": lambda: sessions.one(project, ref),
                "resume": lambda: sessions.resumed(project, ref)}[kind]()  # fmt: skip
    return calls.one(project, answers.show(project, ref)) if kind == "entry" else asking.case(project, ref)


def _parts(uri: str) -> tuple[str, str, str]:
    """Kind, reference and project of an address; `BackstoryError` for one that cannot exist."""
    try:
        split = urlsplit(uri)
        query = parse_qs(split.query, strict_parsing=bool(split.query), keep_blank_values=True)
    except ValueError as error:
        raise _unknown(uri) from error
    kind, ref = split.netloc, unquote(split.path[1:])
    right = bool(ref) in _NAMES.get(kind, ())
    if split.scheme != SCHEME or split.fragment or not right or set(query) - {"project_path"}:
        raise _unknown(uri)
    return kind, ref, query.get("project_path", [""])[-1]


def _unknown(uri: str) -> BackstoryError:
    return BackstoryError(f"There is no resource {uri[:200]!r}.", hint=f"There are: {_KNOWN}.", code=Exit.USAGE)
