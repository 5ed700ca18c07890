"""A project and everybody who writes to it or asks it, each through the door that they really have.

An agent: the command line without a terminal, and MCP through the official client. A person: a terminal. Capture and
importers: the gateway with a writer of their kind, which no surface can claim.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client

from backstory.config import load
from backstory.errors import BackstoryError
from backstory.project import gateway
from backstory.project.refresh import open_project
from backstory.records.event import By
from backstory.surfaces.cli.main import group
from backstory.surfaces.hooks import entry
from tests.acceptance import doors
from tests.cli.terminal import person as at_terminal
from tests.storekit import git, new_repo

SESSION = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-one"}
FRESH_START = ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm")


class Said(NamedTuple):
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The answer of a command that was asked for JSON."""
        return json.loads(self.out)["data"]


class Reply(NamedTuple):
    """What an MCP tool gave back. `error` is an error of the protocol, else ""."""

    text: str
    data: dict[str, Any]
    failed: bool
    error: str = ""


class Server:
    """A real `backstory mcp` process and the official client, called from ordinary code."""

    def __init__(self, portal: BlockingPortal, client: Client, log: Path) -> None:
        self._portal, self._client, self._log = portal, client, log

    def call(self, tool: str, **arguments: Any) -> Reply:
        return self._portal.call(self._call, tool, arguments)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        try:
            result = await self._client.call_tool(tool, arguments)
        except Exception as error:  # noqa: BLE001 (an error of the protocol is an answer too)
            return Reply(str(error), {}, True, str(error))
        text = "\n".join(part.text for part in result.content if part.type == "text")
        return Reply(text, result.structured_content or {}, bool(result.is_error))

    def tools(self) -> list[str]:
        return [tool.name for tool in self._portal.call(self._client.list_tools).tools]

    @property
    def stderr(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")


@contextmanager
def serving(*args: str, cwd: Path, log: Path, name: str = "") -> Iterator[Server]:
    """A server started in `cwd` with `args` behind `backstory mcp`; `name` is the client's."""
    from mcp import Implementation

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "backstory", "mcp", *args], env=dict(os.environ), cwd=cwd
    )
    info = Implementation(name=name, version="1") if name else None
    with log.open("w", encoding="utf-8") as errors, start_blocking_portal() as portal:
        client = Client(stdio_client(command, errlog=errors), client_info=info)
        with portal.wrap_async_context_manager(client):
            yield Server(portal, client, log)


class Shared:
    """One server for all tests of this process: bound to no project, it is told the project in each call."""

    serving: Any = None
    server: Server | None = None

    @classmethod
    def get(cls) -> Server:
        if cls.server is None:
            folder = Path(os.environ["HOME"])
            cls.serving = serving(cwd=folder, log=folder / "mcp.log")
            cls.server = cls.serving.__enter__()
        return cls.server

    @classmethod
    def stop(cls) -> None:
        if cls.serving is not None:
            cls.serving.__exit__(None, None, None)
        cls.serving = cls.server = None


class World:
    """The project at `root`. Use it with `with` where it has a server of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._server: Server | None = None
        self._serving: Any = None

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop this project's own server."""
        if self._serving is not None:
            self._serving.__exit__(None, None, None)
        self._server = self._serving = None

    # -- an agent

    def cli(self, *args: str, env: dict[str, str] | None = None, stdin: str | bytes | None = None) -> Said:
        """A command as an agent or a script runs it, in this process."""
        doors.note_command(args)
        done = CliRunner(env=env).invoke(group, ["--project", str(self.root), *args], input=stdin)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return Said(done.exit_code, done.stdout, done.stderr)

    def ask(self, *args: str, env: dict[str, str] | None = None) -> Any:
        """The data of a command that must succeed."""
        said = self.cli(*args, "--json", env=env)
        assert said.code == 0, said
        return said.data

    def process(
        self, *args: str, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> Said:
        """The same in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *args],
            cwd=cwd or self.root, input=stdin, capture_output=True, check=False, env={**os.environ, **(env or {})},
        )  # fmt: skip
        return Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def say(self, kind: str, text: str, *args: str, session: str = "session-one") -> str:
        """Record something as an agent on the command line; the entry's id."""
        env = SESSION | {"CLAUDE_CODE_SESSION_ID": session}
        return str(self.ask(kind, text, *args, env=env)["id"])

    def serve(self) -> Server:
        """Start a server of this project's own, which `mcp` uses from now on."""
        self.close()
        log = self.root.parent / f"{self.root.name}-mcp-{random.random()}.log"
        self._serving = serving("--project", str(self.root), cwd=self.root.parent, log=log)
        self._server = self._serving.__enter__()
        return self._server

    def mcp(self, tool: str, **arguments: Any) -> Reply:
        """Call a tool: of this project's own server, or of the shared one."""
        doors.note_tool(tool)
        if self._server is not None:
            return self._server.call(tool, **arguments)
        return Shared.get().call(tool, **{"project_path": str(self.root), **arguments})

    def hook(self, client: str = "claude-code", event: str = "SessionStart", **fields: Any) -> Said:
        """A hook as its client runs it: an isolated interpreter on one small file."""
        doors.ASKED.add((doors.HOOKS, f"{client} {event}"))
        given = {"session_id": "session-new", "transcript_path": "", "cwd": str(self.root), "hook_event_name": event}
        stdin = json.dumps(given | {"source": "startup"} | fields).encode()
        done = subprocess.run(
            [sys.executable, "-I", "-S", entry.__file__, client, event], input=stdin, capture_output=True, check=False
        )
        return Said(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    # -- a person

    def person(self, *args: str, keys: str = "") -> Said:
        """A command at a terminal."""
        code, screen = at_terminal(self.root, *args, keys=keys)
        return Said(code, screen, "")

    def judge(self, *args: str) -> Said:
        """A command at a terminal that must succeed."""
        said = self.person(*args)
        assert said.code == 0, said
        return said

    # -- capture

    def capture(self, kind: str, text: str, session: str = "session-cap", by: str = "hook", **fields: Any) -> str:
        """Write as a hook or an import of prose does: the status of the write, or "refused"."""
        with open_project(str(self.root)) as project:
            try:
                writer = By(kind=by, name="capture", session=session)
                return gateway.record(project, writer, kind, {"summary": text, **fields}).status
            except BackstoryError as error:
                assert error.code == 4, error
                return "refused"

    # -- what lies behind

    def entries(self) -> dict[str, dict[str, Any]]:
        """Every entry, whatever its standing, by id."""
        return {view["id"]: view for view in self.ask("timeline", "--limit", "10000")}

    def standing(self, id_: str) -> str:
        return str(self.ask("show", id_)["entry"]["standing"])

    def put(self, path: str, text: str = "x = 1\n") -> str:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8", newline="\n")
        return path

    def commit(self, message: str = "change") -> str:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", message)
        return git(self.root, "rev-parse", "HEAD")

    def forget(self) -> None:
        """Delete every derived file: what follows starts from the log alone. A server of its own starts anew."""
        served = self._server is not None
        self.close()
        derived = Path(load(str(self.root)).places.derived_dir)
        for name in FRESH_START:
            (derived / name).unlink(missing_ok=True)
        if served:
            self.serve()

    def truth(self) -> list[Path]:
        """The files of the log and of the journal."""
        places = load(str(self.root)).places
        folders = [places.log_dir, *([places.journal_dir] if places.journal_dir else [])]
        return sorted(path for folder in folders for path in Path(folder).glob("*.jsonl"))

    def own_bytes(self) -> dict[str, bytes]:
        """Every file of the project, git's folder included."""
        return {str(path): path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file()}

    def every_byte(self) -> bytes:
        """All that lies in the work tree, beside git's own objects, and in the user's folders."""
        places = load(str(self.root)).places
        folders = {str(self.root), places.shared_dir, places.derived_dir, os.environ["HOME"]}
        paths = {path for folder in folders for path in Path(folder).rglob("*") if path.is_file()}
        return b"\n".join(path.read_bytes() for path in sorted(paths) if "objects" not in path.parts)


def start(folder: Path, *, name: str = "", plain: bool = False, private: bool = False) -> World:
    """A project with an empty memory: in a repository, or `plain` without git."""
    if plain:
        folder.mkdir(parents=True)
    else:
        new_repo(folder)
    world = World(folder)
    transcript(world)
    args = ["--name", name or folder.name, *(["--private"] if private else [])]
    done = CliRunner().invoke(group, ["init", str(folder), *args])
    assert done.exit_code == 0, done.output
    return world


def transcript(world: World, session: str = "session-one", *texts: str, folder: str = "") -> Path:
    """A transcript of Claude Code in which a person said `texts` in the project; the file."""
    path = Path(os.environ["HOME"]) / ".claude" / "projects" / (folder or world.root.name) / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for text in texts or ("please look around",):
            record = {
                "type": "user", "uuid": f"{random.getrandbits(128):032x}", "sessionId": session,
                "cwd": str(world.root), "version": "2.1.332", "timestamp": "2026-01-02T03:04:05.678Z",
                "message": {"role": "user", "content": text},
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")
    return path


def words(count: int, seed: object = None) -> list[str]:
    """Made-up words that no other text holds, no secret looks like and no stemmer shortens."""
    chance = random.Random(None if seed is None else str(seed))
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(chance.choice("bdfgkmnprtvz") + chance.choice("aou") for _ in range(4)) + "x"] = None
    return list(made)


def copied(world: World, folder: Path) -> World:
    """The project in another folder, as `cp -a` leaves it."""
    return World(Path(shutil.copytree(world.root, folder, symlinks=True)))


def ids_in(text: str) -> list[str]:
    """The short ids at the ends of the lines of a brief."""
    return re.findall(r"\(\d{4}-\d\d-\d\d, ([0-9A-Z]{6,})\)$", text, re.MULTILINE)
