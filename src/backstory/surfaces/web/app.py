"""The page as an ASGI application: routes, errors as pages, and what every page shows beside its own part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from backstory.errors import BackstoryError, Exit
from backstory.project.browsing import stamp
from backstory.project.fault_reports import keep_traceback
from backstory.project.opened import Project
from backstory.project.refresh import open_project
from backstory.project.reviewing import waiting
from backstory.surfaces.web.actions import ACTIONS
from backstory.surfaces.web.asking import Action, Ask, Desk, Shown, View
from backstory.surfaces.web.guard import MOST_BYTES, Guard, form_token
from backstory.surfaces.web.rendering import render
from backstory.surfaces.web.views import cases, entries, files, freshness, log, overview, review, sessions, themes

VIEWS: tuple[View, ...] = (
    View("/", "Overview", overview.show),
    View("/entries", "Entries", entries.show),
    View("/timeline", "Timeline", entries.timeline),
    View("/cases", "Cases", cases.show),
    View("/files", "Files", files.show),
    View("/themes", "Themes", themes.show),
    View("/sessions", "Sessions", sessions.show),
    View("/freshness", "Freshness", freshness.show),
    View("/conflicts", "Conflicts", review.conflicts),
    View("/review", "Review", review.show),
    View("/log", "Log", log.show),
    View("/stats", "Stats", overview.stats),
    View("/doctor", "Doctor", log.doctor),
    View("/search", "", entries.search),
    View("/entry/{id}", "", entries.one),
    View("/case/{id:path}", "", cases.one),
    View("/file/{path:path}", "", files.one),
    View("/session/{id}", "", sessions.one),
)
_STATUS = {Exit.USAGE: 400, Exit.NO_PROJECT: 404, Exit.REFUSED: 409, Exit.DAMAGED: 500}
_FORM = "application/x-www-form-urlencoded"
# Fields in which somebody writes: what was not taken is given back.
_TYPED = ("text", "reason", "why")


def application(start: str, by: Any, place: str, token: str) -> Guard:
    """The application for the project around `start`, in which `by` decides, at `place` (address:port)."""
    desk = Desk(start, by, form_token(token))
    routes = [
        *(Route(view.path, _reading(desk, view), methods=["GET"]) for view in VIEWS),
        *(Route(action.path, _changing(desk, action), methods=["POST"]) for action in ACTIONS),
        Route("/live", _live(desk), methods=["GET"]),
        Mount("/static", StaticFiles(packages=[("backstory.surfaces.web", "static")])),
    ]
    handlers: dict[Any, Any] = {HTTPException: _no_such_page(desk)}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), place, token)


def _reading(desk: Desk, view: View) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return _answer(desk, request, lambda project: _page(desk, request, project, view.show))

    return endpoint


def _changing(desk: Desk, action: Action) -> Any:
    async def endpoint(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise HTTPException(413, "That is more than a form of this page holds.")
        return await run_in_threadpool(_change, desk, action, request, bytes(body))

    return endpoint


def _change(desk: Desk, action: Action, request: Request, body: bytes) -> Response:
    if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        raise HTTPException(415, "A change must come from a form of this page.")
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)
    form = dict(pairs)
    from hmac import compare_digest

    if not compare_digest(form.pop("csrf", "").encode(), desk.csrf.encode()):
        said = "The form does not carry the mark of this page."
        return _wrong(desk, request, None, said, "Load the page again, and send it anew.", 403, form)

    def do(project: Project) -> Response:
        with desk.lock:
            ask = Ask(project, desk, request.path_params, dict(request.query_params), form)
            return RedirectResponse(action.do(ask), status_code=303)

    return _answer(desk, request, do, form)


def _answer(
    desk: Desk, request: Request, work: Callable[[Project], Response], typed: Mapping[str, str] | None = None
) -> Response:
    """What `work` gives for the project of now, or a page that says what is wrong and gives back what was `typed`."""
    # A view of one thing that nobody knows is no page.
    statuses = {**_STATUS, Exit.USAGE: 404} if typed is None and request.path_params else _STATUS
    try:
        with open_project(desk.start) as project:
            try:
                return work(project)
            except BackstoryError as error:
                return _wrong(desk, request, project, error.message, error.hint, statuses.get(error.code, 400), typed)
    except BackstoryError as error:
        return _wrong(desk, request, None, error.message, error.hint, _STATUS.get(error.code, 500), typed)
    except HTTPException:
        raise
    except Exception as error:  # noqa: BLE001 (a fault of ours is a page with the place of its traceback)
        kept = keep_traceback(error)
        said = f"This is a fault of backstory ({type(error).__name__}); the traceback is in {kept}."
        return _wrong(desk, request, None, said, "Please report it with that file.", 500, typed)


def _page(desk: Desk, request: Request, project: Project, show: Callable[[Ask], Shown]) -> Response:
    shown = show(Ask(project, desk, request.path_params, dict(request.query_params)))
    return HTMLResponse(render(shown.template, {**_around(desk, request, project), "title": shown.title, **shown.data}))


def _around(desk: Desk, request: Request, project: Project | None) -> dict[str, Any]:
    """What every page shows beside its own part."""
    return {
        "nav": [(view.path, view.name) for view in VIEWS if view.name],
        "here": request.url.path,
        "csrf": desk.csrf,
        "by": desk.by,
        "may_change": desk.may_change,
        "query": dict(request.query_params),
        "name": project.config.name if project else "",
        "root": project.root if project else "",
        "branch": project.branch if project else "",
        "waiting": waiting(project) if project else 0,
        "problems": project.problem_count() if project else 0,
        "notices": list(project.notices) if project else [],
        "stamp": _stamp(desk, project) if project else "",
    }


def _stamp(desk: Desk, project: Project) -> str:
    return f"{stamp(project)} {desk.jobs.state()}"


def _wrong(
    desk: Desk,
    request: Request,
    project: Project | None,
    message: str,
    hint: str,
    status: int,
    typed: Mapping[str, str] | None = None,
) -> Response:
    kept = [(name, text) for name, text in (typed or {}).items() if name in _TYPED and text.strip()]
    data = {**_around(desk, request, project), "title": "Not done", "message": message, "hint": hint, "typed": kept}
    return HTMLResponse(render("wrong.html", data), status_code=status)


def _no_such_page(desk: Desk) -> Callable[[Request, Exception], Response]:
    def handler(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        said = {404: "There is no such page.", 405: "This page does not take that."}
        message = said.get(status) or str(getattr(error, "detail", ""))
        return _wrong(desk, request, None, message, "Go on from the list of pages.", status)

    return handler


def _live(desk: Desk) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            with open_project(desk.start) as project:
                return JSONResponse({"stamp": _stamp(desk, project)})
        except BackstoryError as error:
            return JSONResponse({"stamp": "", "error": error.message}, status_code=503)

    return endpoint
