"""Every door through which the memory answers, taken from the registries, and a hand that knocks on each.

A command, tool, hook or format that has no adapter here makes `test_surfaces.py` fail, so a new surface cannot stay
untested. An adapter asks as its users ask, and gives back all that they are shown, raw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

import duckdb

from backstory.index.folding import value_hash
from backstory.project.exporting import FORMATS
from backstory.project.keeping import Keeper
from backstory.surfaces.cli.registry import COMMANDS
from backstory.surfaces.hooks.entry import CLIENTS, events_of
from backstory.surfaces.mcp import offering, prompts, resources
from backstory.surfaces.mcp.answering import Caller
from backstory.surfaces.mcp.offers import PROMPTS, TEMPLATES
from backstory.surfaces.mcp.projectmem import calls as projectmem
from backstory.surfaces.mcp.projectmem import tools as projectmem_tools
from backstory.surfaces.mcp.scope import Scope
from backstory.surfaces.mcp.tools import TOOLS
from backstory.surfaces.web.app import VIEWS
from tests.acceptance import doors, hooks, web
from tests.acceptance.world import Reply, World

LIVE = ("active", "confirmed", "contested")
# What an entry has to be like for a surface to show it; "" for surfaces that show figures only.
PLAIN, STALE, CLASH, WAITING, FIGURES = "plain", "stale", "clash", "waiting", ""
# Planted entries rest on this ticket; TICKETED surfaces show those that rest on it and are plain.
TICKETED, TICKET = "ticketed", "parser"
# All that SQL can show of an entry's text, its standing left out.
ENTRIES = "SELECT id, summary, detail, rationale, files FROM entries ORDER BY recorded_at DESC"


class About(NamedTuple):
    """What is asked for: words that the entry has among others, its id, a file and an issue that it cites."""

    words: str
    id: str
    path: str
    issue: str


class Planted(NamedTuple):
    """An entry and the made-up word that it alone has."""

    mark: str
    about: About


class Surface(NamedTuple):
    """`shows` says which of the planted entries must appear on it."""

    name: str
    shows: str
    ask: Callable[[World, About], str]

    def __repr__(self) -> str:
        return self.name


# Command: what it shows, and the arguments with which it answers.
_COMMANDS: dict[str, tuple[str, Callable[[About], list[str]]]] = {
    "status": (FIGURES, lambda about: []),
    "stats": (FIGURES, lambda about: []),
    "doctor": (FIGURES, lambda about: []),
    "verify": (FIGURES, lambda about: []),
    "brief": (PLAIN, lambda about: ["--for", about.path, "--budget", "2000"]),
    "search": (PLAIN, lambda about: [*about.words.split(), "--limit", "100"]),
    "why": (PLAIN, lambda about: [about.path]),
    "check": (PLAIN, lambda about: [about.path, "--intent", about.words]),
    "show": (PLAIN, lambda about: [about.id]),
    "timeline": (PLAIN, lambda about: ["--limit", "1000"]),
    "case": (PLAIN, lambda about: [about.issue]),
    "stale": (STALE, lambda about: []),
    "diff": (FIGURES, lambda about: []),
    "conflicts": (CLASH, lambda about: []),
    "review": (WAITING, lambda about: []),
    "export": (PLAIN, lambda about: []),
    "history query": (PLAIN, lambda about: [ENTRIES]),
    "history search": (FIGURES, lambda about: about.words.split()),
    "history themes": (FIGURES, lambda about: []),
    "history semantic": (FIGURES, lambda about: about.words.split()),
    "history grade": (FIGURES, lambda about: []),
    "map": (FIGURES, lambda about: []),
    "global list": (FIGURES, lambda about: ["--all"]),
    "global show": (FIGURES, lambda about: [about.id]),
    "global search": (FIGURES, lambda about: about.words.split()),
    "global verify": (FIGURES, lambda about: []),
    "projects list": (FIGURES, lambda about: []),
    "sessions list": (FIGURES, lambda about: []),
    "sessions show": (FIGURES, lambda about: ["session-one"]),
    "sessions search": (FIGURES, lambda about: about.words.split()),
    "sessions resume": (FIGURES, lambda about: ["session-one", "--budget", "5000"]),
    "ticket list": (FIGURES, lambda about: []),
    "git-hooks status": (FIGURES, lambda about: []),
    "ticket show": (TICKETED, lambda about: [TICKET]),
}
# The same commands where they are asked for more than what counts now: all of that must be tagged.
_WIDENED: dict[str, tuple[str, Callable[[About], list[str]]]] = {
    "search --all": (PLAIN, lambda about: [*about.words.split(), "--all", "--limit", "100"]),
    "export --all": (PLAIN, lambda about: ["--all"]),
    "brief": (PLAIN, lambda about: []),
    "review --rejected": (FIGURES, lambda about: ["--rejected"]),
    "why folder": (PLAIN, lambda about: [about.path.rpartition("/")[0] or "."]),
}
_TOOLS: dict[str, tuple[str, Callable[[About], dict[str, Any]]]] = {
    "get_project_memory": (PLAIN, lambda about: {}),
    "search_project_memory": (PLAIN, lambda about: {"query": about.words, "limit": 50}),
    "query_history": (PLAIN, lambda about: {"sql": ENTRIES, "rows": 1000}),
    "brief": (PLAIN, lambda about: {"files": [about.path], "budget": 2000}),
    "case": (PLAIN, lambda about: {"id": about.issue}),
    "status": (FIGURES, lambda about: {}),
    "precheck": (FIGURES, lambda about: {"files": [about.path], "intent": about.words}),
}
# What the index shows about a file is asked of it as it stands; a stale entry waits for the next refresh.
_HOOKS = dict.fromkeys(hooks.SPEAKS, PLAIN)


def _cli(name: str, args: Callable[[About], list[str]], *more: str) -> Callable[[World, About], str]:
    def ask(world: World, about: About) -> str:
        said = world.cli(*name.split(), *args(about), *more)
        return said.out + said.err

    return ask


def _export(args: Callable[[About], list[str]], form: str) -> Callable[[World, About], str]:
    """What an export tells; files are read as their readers do."""

    def ask(world: World, about: About) -> str:
        given = ["export", *args(about), "--format", form]
        if form not in ("pages", "parquet"):
            said = world.cli(*given)
            return said.out + said.err
        with TemporaryDirectory() as folder:
            out = Path(folder) / "memory"
            said = world.cli(*given, "--out", str(out))
            assert said.code == 0, said
            return _rows(out) if form == "parquet" else _pages(out)

    return ask


def _pages(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(path.read_text(encoding="utf-8") for path in files)


def _rows(path: Path) -> str:
    """A Parquet file as one object of JSON, so that the eye for tags can read it."""
    with duckdb.connect(":memory:") as db:
        found = db.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [column[0] for column in found.description]
        return json.dumps({"data": [dict(zip(names, row, strict=True)) for row in found.fetchall()]})


class _Replies:
    """The last reply of a tool: its two parts are surfaces of their own, and one call gives both."""

    def __init__(self) -> None:
        self.turn = 0
        self._kept: tuple[Any, Reply] | None = None

    def of(self, world: World, name: str, given: dict[str, Any]) -> Reply:
        """What the tool says: kept if it was asked the same just before and not a byte of the log changed since."""
        stamps = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in world.truth()]
        key, kept = (id(world), name, given, stamps), self._kept
        self._kept = None
        if kept is not None and kept[0] == (*key, self.turn - 1):
            return kept[1]
        reply = world.mcp(name, **given)
        self._kept = ((*key, self.turn), reply)
        return reply


_REPLIES = _Replies()


def _tool(name: str, args: Callable[[About], dict[str, Any]], part: str) -> Callable[[World, About], str]:
    def ask(world: World, about: About) -> str:
        reply = _REPLIES.of(world, name, args(about))
        return reply.text if part == "text" else json.dumps(reply.data, ensure_ascii=False)

    return ask


# The tools of projectmem, resources and prompts, asked in this process; they go the way of the tools above.
_PROJECTMEM: dict[str, tuple[str, Callable[[About], dict[str, Any]]]] = {
    "get_instructions": (FIGURES, lambda about: {}),
    "get_summary": (FIGURES, lambda about: {}),
    "get_project_map": (FIGURES, lambda about: {}),
    "get_plan": (FIGURES, lambda about: {}),
    "precheck_file": (FIGURES, lambda about: {"file_path": about.path}),
    "get_issue": (FIGURES, lambda about: {"issue_id": about.issue}),
    "search_events": (PLAIN, lambda about: {"query": about.words, "limit": 50}),
    "get_score": (FIGURES, lambda about: {}),
    "get_context": (FIGURES, lambda about: {"focus": about.path}),
    "get_global_gotchas": (FIGURES, lambda about: {}),
    "list_projects": (FIGURES, lambda about: {}),
    "current_project": (FIGURES, lambda about: {}),
}
_ADDRESSES: dict[str, tuple[str, Callable[[About], str]]] = {
    "brief": (FIGURES, lambda about: "backstory://brief"),
    "entry": (PLAIN, lambda about: f"backstory://entry/{about.id}"),
    "case": (FIGURES, lambda about: f"backstory://case/{quote(about.issue, safe='')}"),
    "sessions": (FIGURES, lambda about: "backstory://sessions"),
    "session": (FIGURES, lambda about: "backstory://session/session-one"),
    "resume": (FIGURES, lambda about: "backstory://resume/session-one"),
}
_PROMPTS: dict[str, Callable[[About], dict[str, str]]] = {
    "open_case": lambda about: {"summary": about.words, "location": about.path},
    "hand_over": lambda about: {},
    "take_over": lambda about: {"session": "session-one"},
}

# Views of the page: what each shows, and its address.
_VIEWS: dict[str, tuple[str, Callable[[About], str]]] = {
    "/": (PLAIN, lambda about: "/"),
    "/entries": (PLAIN, lambda about: "/entries"),
    "/timeline": (PLAIN, lambda about: "/timeline"),
    "/cases": (FIGURES, lambda about: "/cases"),
    "/files": (FIGURES, lambda about: "/files"),
    "/themes": (FIGURES, lambda about: "/themes"),
    "/sessions": (FIGURES, lambda about: "/sessions"),
    "/freshness": (STALE, lambda about: "/freshness"),
    "/conflicts": (CLASH, lambda about: "/conflicts"),
    "/review": (WAITING, lambda about: "/review"),
    "/log": (PLAIN, lambda about: "/log"),
    "/stats": (FIGURES, lambda about: "/stats"),
    "/doctor": (FIGURES, lambda about: "/doctor"),
    "/search": (PLAIN, lambda about: f"/search?q={quote(about.words)}"),
    "/entry/{id}": (PLAIN, lambda about: f"/entry/{about.id}"),
    "/case/{id:path}": (PLAIN, lambda about: f"/case/{quote(about.issue, safe='')}"),
    "/file/{path:path}": (PLAIN, lambda about: f"/file/{quote(about.path)}"),
    "/session/{id}": (FIGURES, lambda about: "/session/session-one"),
}


def _projectmem(name: str, args: Callable[[About], dict[str, Any]]) -> Callable[[World, About], str]:
    def ask(world: World, about: About) -> str:
        offer = offering.offer("read", offering.PROJECTMEM)
        return projectmem.answer(_scope(world), Keeper(), Caller("test", "one"), offer, name, args(about)).text

    return ask


def _resource(address: Callable[[About], str]) -> Callable[[World, About], str]:
    return lambda world, about: resources.read(_scope(world), Keeper(), address(about)).text


def _prompt(name: str) -> Callable[[World, About], str]:
    def ask(world: World, about: About) -> str:
        offer, given = offering.offer("write"), _PROMPTS[name](about)
        return prompts.get(_scope(world), Keeper(), Caller("test", "one"), offer, name, given).text

    return ask


def _view(address: Callable[[About], str]) -> Callable[[World, About], str]:
    return lambda world, about: web.read(str(world.root), address(about))


def _scope(world: World) -> Scope:
    return Scope(str(world.root), {}, str(world.root))


def _hook(client: str, event: str) -> Callable[[World, About], str]:
    def ask(world: World, about: About) -> str:
        return hooks.ask(world, client, event, about.path)

    return ask


def _of_cli() -> Iterator[Surface]:
    named = [(name, *_COMMANDS[name]) for name, command in COMMANDS.items() if command.reads and name in _COMMANDS]
    for name, shows, args in [*named, *((name, *found) for name, found in _WIDENED.items())]:
        command = name if name in COMMANDS else name.split()[0]
        if command == "export":
            # A block holds only what counts: it is refused with --all.
            for form in FORMATS if name == command else [form for form in FORMATS if form != "block"]:
                yield Surface(f"cli {name} --format {form}", shows, _export(args, form))
            continue
        yield Surface(f"cli {name}", shows, _cli(command, args))
        yield Surface(f"cli {name} --json", shows, _cli(command, args, "--json"))


def _all() -> Iterator[Surface]:
    yield from _of_cli()
    for name, (shows, args) in _TOOLS.items():
        for part in ("text", "data"):
            yield Surface(f"mcp {name} {part}", shows, _tool(name, args, part))
    for name, (shows, args) in _PROJECTMEM.items():
        yield Surface(f"projectmem {name}", shows, _projectmem(name, args))
    for name, (shows, address) in _ADDRESSES.items():
        yield Surface(f"resource {name}", shows, _resource(address))
    for name in _PROMPTS:
        yield Surface(f"prompt {name}", FIGURES, _prompt(name))
    for (client, event), shows in _HOOKS.items():
        yield Surface(f"hook {client} {event}", shows, _hook(client, event))
    for path, (shows, address) in _VIEWS.items():
        yield Surface(f"web {path}", shows, _view(address))
    yield Surface("web /entries standing=all", PLAIN, _view(lambda about: "/entries?standing=all"))


def _noted(surface: Surface) -> Surface:
    """The surface, with a note that it was asked."""

    def ask(world: World, about: About) -> str:
        doors.ASKED.add(doors.of_surface(surface.name))
        _REPLIES.turn += 1
        return surface.ask(world, about)

    return surface._replace(ask=ask)


SURFACES = tuple(map(_noted, _all()))


def pages(about: About) -> list[str]:
    """The address of every view of the page."""
    return [address(about) for _, address in _VIEWS.values()]


def without_adapter() -> list[str]:
    """What the registries have and this module does not know, and the other way round."""
    reading = {name for name, command in COMMANDS.items() if command.reads}
    tools = {name for name, tool in TOOLS.items() if not tool.writes}
    others = {name for name, tool in projectmem_tools.TOOLS.items() if not tool.writes} ^ _PROJECTMEM.keys()
    others |= {item["name"] for item in PROMPTS} ^ _PROMPTS.keys()
    others |= {item["name"] for item in TEMPLATES} ^ _ADDRESSES.keys()
    known = {(client, event) for client in CLIENTS for event in events_of(client)}
    mine = {*_HOOKS, *((client, event) for client, events in hooks.QUIET.items() for event in events)}
    others |= {view.path for view in VIEWS} ^ _VIEWS.keys()
    missing = [*(reading ^ _COMMANDS.keys()), *(tools ^ _TOOLS.keys()), *others, *map(" ".join, known ^ mine)]
    return [f"no adapter for surface {name}" for name in sorted(missing)]


def plant(world: World, name: str, words: str, path: str, issue: str, mark: str, *more: str) -> Planted:
    """A decision of an agent with `words` and `mark` in it, on a file and an issue."""
    world.put(f"tickets/{TICKET}.md", "# Make the parser fast\n")
    said = [f"{words} by way of {mark}", "-f", path, "--issue", issue, "--ticket", TICKET]
    id_ = world.say("decide", *said, *more, session=f"s-{name}")
    return Planted(mark, About(words, id_, path, issue))


def plant_controls(world: World, words: str, path: str, issue: str, marks: Iterable[str]) -> dict[str, Planted]:
    """An entry for each thing that a surface shows: what counts, what is stale, what clashes, what waits."""
    plain, stale, clash, waiting = marks
    world.put(path)
    found: dict[str, Planted] = {}
    gone = world.put("src/vanished.py")
    found[STALE] = plant(world, STALE, words, path, issue, stale, "-f", gone)
    (world.root / gone).unlink()
    found[CLASH] = plant(world, CLASH, "Allow retries in the client", path, issue, clash)
    world.say("decide", f"Do not allow retries in the client by way of {clash}", "-f", path)
    world.capture("decision", f"{words} as {waiting} waits", files=[path], issue=issue)
    id_ = next(id_ for id_, view in world.entries().items() if waiting in view["summary"])
    found[WAITING] = Planted(waiting, About(words, id_, path, issue))
    # Last, so that it is among the newest, which a brief has room for.
    found[PLAIN] = found[TICKETED] = plant(world, PLAIN, words, path, issue, plain)
    return found


def assert_shown(world: World, controls: dict[str, Planted], surfaces: Iterable[Surface] = SURFACES) -> None:
    """The positive control: each surface answers, and shows what it is there to show."""
    for surface in surfaces:
        known = controls.get(surface.shows or PLAIN)
        if known is None:
            continue
        text = surface.ask(world, known.about)
        if surface.shows:
            assert known.mark in text, f"{surface.name} does not show {surface.shows}:\n{text}"
        else:
            assert text, surface.name


def assert_absent(world: World, about: About, mark: str, surfaces: Iterable[Surface] = SURFACES) -> None:
    """No surface shows the mark, whatever else it answers."""
    for surface in surfaces:
        text = surface.ask(world, about)
        assert mark not in text, f"{surface.name} shows {mark}:\n{text}"


def assert_absent_or_tagged(world: World, about: About, mark: str) -> list[str]:
    """Wherever the mark is, a tag beside it says that it does not count; the surfaces that show it so."""
    tagged = []
    for surface in SURFACES:
        text = surface.ask(world, about)
        if mark in text:
            wrong = untagged(text, mark)
            assert not wrong, f"{surface.name} shows without a tag: {wrong}\n{text}"
            tagged.append(surface.name)
    return tagged


# --- whether a tag stands beside a text ------------------------------------------------------------------------

_ENDED = r"(?:superseded|retired|rejected|expired|proposed)"
_TAG = re.compile(
    rf"\[{_ENDED}|\[until \d|\({_ENDED}|, {_ENDED}[;:]|\({_ENDED}\)|No longer holds|asked for, but {_ENDED}"
)
# `show` has the standing in the line above the text.
_TITLE = re.compile(rf"^(?:case )?\w+ [0-9A-Z]{{6,26}}  {_ENDED}$")
# In the lines of the log the operations are the tags, and they stand beside: `ended` looks for them.
_OPERATIONS = ("reject", "retire", "redact", "lift", "contest", "resolve", "confirm", "approve")


def untagged(text: str, mark: str) -> list[str]:
    """The places of `text` (JSON, lines of the log, or lines for people) where `mark` stands as if it counted."""
    try:
        return list(_in_json(json.loads(text), mark))
    except ValueError:
        pass
    lines = text.splitlines()
    if lines and all(line.startswith('{"') for line in lines if line):
        events = [json.loads(line) for line in lines if line]
        return [json.dumps(event) for event in events if mark in json.dumps(event) and not _ended(event, events)]
    found = []
    for number, line in enumerate(lines):
        above = lines[number - 1] if number else ""
        if mark in line and not _TAG.search(line) and not (line.startswith("  ") and _TITLE.match(above)):
            found.append(line)
    return found


def _ended(event: dict[str, Any], events: list[dict[str, Any]]) -> bool:
    """Whether an operation or a successor in the same list takes the event out, or it says itself that it waits."""
    if event["kind"] in _OPERATIONS:
        return True
    by = event.get("by", {}).get("kind")
    ended = {other.get("target") for other in events if other["kind"] in ("reject", "retire", "redact")}
    replaced = {id_ for other in events for id_ in other.get("supersedes", ())}
    marked = "held" in event or "valid_until" in event or by in ("hook", "import")
    # A rejection is of the value, whichever entry carries it.
    key, rejected = value_hash(event["summary"]), {other.get("key") for other in events if other["kind"] == "reject"}
    return event["id"] in ended | replaced or marked or key in rejected


def _in_json(value: Any, mark: str) -> Iterator[str]:
    if isinstance(value, str):
        yield from (line for line in value.splitlines() if mark in line and not _TAG.search(line))
        return
    if isinstance(value, dict):
        value = _parts(value)
    for item in value if isinstance(value, list) else ():
        yield from _in_json(item, mark)


def _parts(value: dict[str, Any]) -> list[Any]:
    """What of an object has to be judged by itself."""
    view = value.get("entry")
    standing = (view if isinstance(view, dict) else value).get("standing")
    if isinstance(standing, str) and standing not in LIVE:
        # An entry that says of itself that it does not count; what it holds of others is judged apart.
        return [value.get("holds", []), value.get("case", [])]
    if value.get("kind") in _OPERATIONS and "target" in value:
        return []
    return list(value.values())
