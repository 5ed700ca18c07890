"""Every way to change the memory, taken from the registries, each as a function that tries to say one text.

As with the surfaces: a command or tool that writes and has no adapter here makes a test fail.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from backstory.records.codec import canonical
from backstory.records.ids import new_id
from backstory.records.registry import KINDS
from backstory.records.times import format_instant
from backstory.surfaces.cli.registry import COMMANDS, RECORD
from backstory.surfaces.mcp.tools import TOOLS
from backstory.surfaces.web.actions import ACTIONS
from tests.acceptance import doors, web
from tests.acceptance.world import SESSION, World, start
from tests.cli.terminal import Seat

RECORDED, REFUSED = "recorded", "refused"
ISSUE = "#717"


class Writer(NamedTuple):
    """`say` tries to write the text and tells what became of it, with the words that were said."""

    name: str
    say: Callable[[World, str], tuple[str, str]]

    def __repr__(self) -> str:
        return self.name


# Words that a command needs before its text.
_BEFORE = {"hot": ["src/hot.py"], "observe": [ISSUE], "hypothesis": [ISSUE], "fixed": [ISSUE]}
# Fields that a kind needs over MCP.
_NEEDED: dict[str, dict[str, Any]] = {"hotfile": {"path": "src/hot.py"}}
# Commands that take no text of an entry: what they do is tried by `JUDGES`, or they write no event.
JUDGES = ("confirm", "retire", "contest", "approve", "reject", "lift", "resolve", "redact", "share", "unshare")
SILENT = ("init", "mcp", "web", "completion", "gc", "agent-rule", "history refresh", "install", "uninstall")
SILENT += (
    "git-hooks install",
    "git-hooks uninstall",
    "git-hooks run",
    "snooze",
    "watch",
    "sessions on",
    "sessions off",
    "projects forget",
    "projects scan",
)
# They write what sessions show, and take no text: `_captured` gives them a transcript.
FROM_SESSIONS = ("capture", "backfill")
# They write files of the tree, which are no entries; `tests/cli/test_tickets.py` tries them.
FILES = ("ticket new", "run start", "run finish", "plan")
# Each has a test of its own: it moves events of this clone into the tree, and changes none.
MOVERS = ("publish",)
_OTHERS = ("supersede", "import", "ci ingest")


def _verdict(code: int, out: str, err: str) -> tuple[str, str]:
    assert code in (0, 4), (code, out, err)
    return (REFUSED if code else str(json.loads(out)["data"].get("status", RECORDED))), out + err


def _command(name: str) -> Callable[[World, str], tuple[str, str]]:
    def say(world: World, text: str) -> tuple[str, str]:
        world.put("src/hot.py")
        return _verdict(*world.cli(name, *_BEFORE.get(name, []), text, "--json", env=SESSION))

    return say


def _from_stdin(world: World, text: str) -> tuple[str, str]:
    return _verdict(*world.cli("note", "-", "--json", stdin=f"{text}\nand more of it", env=SESSION))


def _in_a_field(name: str, option: str) -> Callable[[World, str], tuple[str, str]]:
    def say(world: World, text: str) -> tuple[str, str]:
        other = f"Something about {option} that was not known"
        return _verdict(*world.cli(name, other, option, text, "--json", env=SESSION))

    return say


def _person(world: World, text: str) -> tuple[str, str]:
    said = world.person("decide", text, "--json")
    return _verdict(said.code, said.out.strip().splitlines()[-1] if not said.code else "", said.out)


def _supersede(world: World, text: str) -> tuple[str, str]:
    old = world.say("decide", f"What stood before, number {len(world.entries())}")
    return _verdict(*world.cli("supersede", old, text, "--why", "it is better", "--json", env=SESSION))


def _mcp_record(kind: str) -> Callable[[World, str], tuple[str, str]]:
    def say(world: World, text: str) -> tuple[str, str]:
        world.put("src/hot.py")
        reply = world.mcp("record_project_memory", kind=kind, summary=text, **_NEEDED.get(kind, {}))
        return _of_reply(reply.failed, reply.data, reply.text)

    return say


def _of_reply(failed: bool, data: dict[str, Any], text: str) -> tuple[str, str]:
    if failed:
        assert data["error"]["code"] == 4, data
        return REFUSED, text
    return str(data["status"]), text


def _mcp_case(world: World, text: str) -> tuple[str, str]:
    reply = world.mcp("case", summary=text)
    return _of_reply(reply.failed, reply.data, reply.text)


def _mcp_revise(world: World, text: str) -> tuple[str, str]:
    old = world.say("decide", f"What stood before, number {len(world.entries())}")
    reply = world.mcp("revise_project_memory", action="supersede", id=old, summary=text)
    return _of_reply(reply.failed, reply.data, reply.text)


def _capture(by: str) -> Callable[[World, str], tuple[str, str]]:
    return lambda world, text: (world.capture("decision", text, by=by), "")


def _import_foreign(world: World, text: str) -> tuple[str, str]:
    """An export of another project that holds the text."""
    with start(world.root.parent / new_id(1)) as foreign:
        foreign.say("decide", text)
        (world.root / "export.jsonl").write_text(foreign.cli("export", "--format", "jsonl").out)
    return _imported(world)


def _import_own(world: World, text: str) -> tuple[str, str]:
    """A line that carries this project's own hash, as if it had been lost."""
    from backstory.config import load
    from backstory.project.opened import now_micros
    from backstory.records.codec import seal

    config, now = load(str(world.root)), now_micros()
    event = {
        "kind": "decision", "id": new_id(now), "at": format_instant(now), "summary": text,
        "by": {"kind": "agent", "name": "lost", "session": "lost"},
    }  # fmt: skip
    line = canonical(seal(event, config.project, "202611-abcdefgh-00000000", "0" * 32))
    (world.root / "export.jsonl").write_bytes(line + b"\n")
    return _imported(world)


def _imported(world: World) -> tuple[str, str]:
    said = world.cli("import", str(world.root / "export.jsonl"), "--json", env=SESSION)
    assert said.code == 0, said
    data = said.data
    verdict = REFUSED if data["refused"] or data["dropped"] else RECORDED
    assert verdict == REFUSED or data["restored"] or data["added"] or data["present"], data
    return verdict, said.out


def _ci_ingest(world: World, text: str) -> tuple[str, str]:
    """A test that failed with the text as its message."""
    name = f"test_{len(world.entries())}"
    failure = f"<testcase name='{name}'><failure message={quoteattr(text)}/></testcase>"
    (world.root / "junit.xml").write_text(f"<testsuite>{failure}</testsuite>")
    said = world.cli("ci", "ingest", str(world.root / "junit.xml"), "--json", env=SESSION)
    assert said.code == 0, said
    data = said.data
    assert len(data["failed"]) + data["refused"] + data["dropped"] == 1, data
    return (RECORDED if data["failed"] else REFUSED), said.out


def _edit_in_review(world: World, text: str) -> tuple[str, str]:
    """A person who rewrites what waits, key by key."""
    world.capture("note", f"Something that waits, number {len(world.entries())}")
    seat = Seat(["review", "--plain"], world.root, columns=200)
    for awaited, typed in (("[q]uit ?", "e"), ("New text:", f"{text}\r"), (text, "q")):
        seat.wait_for(awaited)
        # A key that comes before the terminal was told to give single keys is lost.
        time.sleep(0.4)
        seat.type(typed)
    _, screen = seat.finish()
    return (RECORDED if "replaced" in screen else REFUSED), screen


# What the page changes. `_edit_on_page` says a text there; `tests/web/test_deciding.py` tries those that judge, as
# `JUDGES` does on the command line; the last two write no event.
ON_PAGE = ("/review/{id}/{action}", "/review/undo", "/entry/{id}/{action}", "/conflict/{id}")
ON_PAGE += ("/share/{id}", "/quiet/{path:path}", "/check/{job}")


def _edit_on_page(world: World, text: str) -> tuple[str, str]:
    """A person who rewrites what waits, on the page."""
    waits = f"Something that waits on the page, number {len(world.entries())}"
    world.capture("note", waits)
    id_ = next(id_ for id_, view in world.entries().items() if view["summary"] == waits)
    visitor = web.visitor(str(world.root))
    answer = visitor.post(f"/review/{id_}/edit", {"text": text})
    assert answer.status in (303, 409), answer
    return (RECORDED, visitor.get("/entries").text) if answer.status == 303 else (REFUSED, answer.text)


def _all() -> Iterator[Writer]:
    for name, command in COMMANDS.items():
        if command.section == RECORD and not command.reads and name not in (*FILES, *FROM_SESSIONS):
            yield Writer(f"cli {name}", _command(name))
    yield Writer("cli note from stdin", _from_stdin)
    yield Writer("cli decide --why", _in_a_field("decide", "--why"))
    yield Writer("cli note --detail", _in_a_field("note", "--detail"))
    yield Writer("cli note --alias", _in_a_field("note", "--alias"))
    yield Writer("cli tried --command", _in_a_field("tried", "--command"))
    yield Writer("cli pattern --example", _in_a_field("pattern", "--example"))
    yield Writer("cli decide by a person", _person)
    yield Writer("cli supersede", _supersede)
    yield Writer("cli import of another project", _import_foreign)
    yield Writer("cli import of a lost line", _import_own)
    yield Writer("cli ci ingest", _ci_ingest)
    yield Writer("cli review, edited", _edit_in_review)
    yield Writer("web review, edited", _edit_on_page)
    for kind in KINDS:
        yield Writer(f"mcp record {kind}", _mcp_record(kind))
    yield Writer("mcp revise", _mcp_revise)
    yield Writer("mcp case", _mcp_case)
    yield Writer("hook", _capture("hook"))
    yield Writer("import of prose", _capture("import"))


def _noted(writer: Writer) -> Writer:
    """The writer, with a note that it was tried."""

    def say(world: World, text: str) -> tuple[str, str]:
        doors.ASKED.add((doors.WAYS, writer.name))
        return writer.say(world, text)

    return writer._replace(say=say)


WRITERS = tuple(map(_noted, _all()))


def without_adapter() -> list[str]:
    """What may change the memory by the registries and is not tried here."""
    known = {name for name, command in COMMANDS.items() if command.section == RECORD and not command.reads}
    known |= {*JUDGES, *SILENT, *MOVERS, *_OTHERS, *FILES, *FROM_SESSIONS}
    writing = {name for name, command in COMMANDS.items() if not command.reads}
    tools = {name for name, tool in TOOLS.items() if tool.writes}
    page = {action.path for action in ACTIONS}
    tried = {"record_project_memory", "revise_project_memory"}
    missing = [*(writing ^ known), *(page ^ set(ON_PAGE)), *(tools ^ tried)]
    return [f"no adapter for writer {name}" for name in sorted(missing)]
