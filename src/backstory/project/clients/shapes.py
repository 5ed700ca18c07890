"""The forms in which clients take an MCP server, hooks and instructions, each of which can be put in and taken out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.project.clients.commands import TIMEOUT_SECONDS, Commands, runs_ours
from backstory.project.clients.contract import Hook
from backstory.project.merging import marked_block, toml_table
from backstory.project.merging.file_text import FileText
from backstory.project.merging.json_edit import JsonText

SERVER = "backstory"


def server(commands: Commands) -> dict[str, Any]:
    """`command` and `args`, as most clients take them."""
    program, *args = commands.mcp()
    return {"command": program, "args": args}


def briefing_server(commands: Commands) -> dict[str, Any]:
    """The same for a client that no hook can tell anything: the brief ends the server's instructions."""
    made = server(commands)
    return {**made, "args": [*made["args"], "--brief"]}


def stdio_server(commands: Commands) -> dict[str, Any]:
    """The same with the kind of transport said."""
    return {"type": "stdio", **server(commands)}


@dataclass(frozen=True, slots=True)
class JsonServer:
    """An entry named `backstory` in an object of MCP servers. What a person added to it stays."""

    key: str
    entry: Callable[[Commands], dict[str, Any]] = server

    def put(self, file: FileText, commands: Commands) -> str:
        """See `Shape`."""
        json = JsonText(file)
        wanted = self.entry(commands)
        if isinstance(json.get(self.key, SERVER), dict):
            for name, value in wanted.items():
                json.put((self.key, SERVER, name), value)
        else:
            json.put((self.key, SERVER), wanted)
        return json.text if json.changed else file.text

    def drop(self, file: FileText, before: Any) -> str:
        """See `Shape`."""
        json = JsonText(file)
        json.remove((self.key, SERVER))
        if json.changed and json.get(self.key) == {} and not (isinstance(before, dict) and self.key in before):
            json.remove((self.key,))
        return json.text if json.changed else file.text


@dataclass(frozen=True, slots=True)
class TomlServer:
    """The table `[mcp_servers.backstory]` of Codex."""

    path: tuple[str, ...] = ("mcp_servers", SERVER)

    def put(self, file: FileText, commands: Commands) -> str:
        """See `Shape`."""
        return toml_table.put(file, self.path, server(commands))

    def drop(self, file: FileText, before: Any) -> str:
        """See `Shape`."""
        return toml_table.drop(file, self.path)


Handler = Callable[[Commands, str, str], dict[str, Any]]


def command_handler(commands: Commands, client: str, event: str) -> dict[str, Any]:
    """`{"type": "command", ...}` with a time limit in seconds."""
    return {"type": "command", "command": commands.hook(client, event), "timeout": TIMEOUT_SECONDS}


@dataclass(frozen=True, slots=True)
class JsonHooks:
    """Handlers in the lists of `hooks`, one list an event; `grouped`: inside groups that have a matcher.

    A handler of ours is known by the program that it runs. Foreign handlers keep their place, also where somebody
    put ours and theirs into one group.
    """

    client: str
    events: tuple[Hook, ...]
    handler: Handler = command_handler
    grouped: bool = True
    # Members of the root that the client wants: set where they are missing.
    beside: tuple[tuple[str, Any], ...] = ()

    def put(self, file: FileText, commands: Commands) -> str:
        """See `Shape`."""
        json = JsonText(file)
        for name, value in self.beside:
            if name not in json.data:
                json.put((name,), value)
        wanted = {hook.event: self._item(hook, commands) for hook in self.events}
        for event in _events(json):
            # An earlier release may have had more events.
            if event not in wanted and self._clear(json, event, keep=-1) and json.get("hooks", event) == []:
                json.remove(("hooks", event))
        for event, item in wanted.items():
            self._put_one(json, event, item)
        return json.text if json.changed else file.text

    def drop(self, file: FileText, before: Any) -> str:
        """See `Shape`."""
        json = JsonText(file)
        known = before if isinstance(before, dict) else {}
        had = known["hooks"] if isinstance(known.get("hooks"), dict) else {}
        for event in _events(json):
            if self._clear(json, event, keep=-1) and json.get("hooks", event) == [] and event not in had:
                json.remove(("hooks", event))
        if json.changed and json.get("hooks") == {} and "hooks" not in known:
            json.remove(("hooks",))
        for name, value in self.beside:
            if json.changed and isinstance(before, dict) and name not in before and json.get(name) == value:
                json.remove((name,))
        return json.text if json.changed else file.text

    def _item(self, hook: Hook, commands: Commands) -> dict[str, Any]:
        handler = self.handler(commands, self.client, hook.event)
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        return {**matcher, "hooks": [handler]} if self.grouped else {**handler, **matcher}

    def _put_one(self, json: JsonText, event: str, item: dict[str, Any]) -> None:
        own = [place for place, known in enumerate(_list(json, event)) if self._only_ours(known)]
        keep = next((place for place in own if _list(json, event)[place] == item), own[0] if own else -1)
        self._clear(json, event, keep=keep)
        if keep < 0:
            json.append(("hooks", event), item)
            return
        place = next(at for at, known in enumerate(_list(json, event)) if self._only_ours(known))
        if _list(json, event)[place] != item:
            json.put(("hooks", event, place), item)

    def _only_ours(self, item: Any) -> bool:
        if not self.grouped:
            return runs_ours(item)
        inner = item.get("hooks") if isinstance(item, dict) else None
        return isinstance(inner, list) and bool(inner) and all(runs_ours(handler) for handler in inner)

    def _clear(self, json: JsonText, event: str, *, keep: int) -> bool:
        """Take ours out of an event's list, but for the item at `keep`; whether anything was taken out."""
        found = False
        for place in reversed(range(len(_list(json, event)))):
            item = _list(json, event)[place]
            if place == keep or not runs_ours(item):
                continue
            inner = item.get("hooks") if isinstance(item, dict) and self.grouped else None
            if self._only_ours(item) or not isinstance(inner, list):
                json.remove(("hooks", event, place))
            else:
                for at in reversed([at for at, handler in enumerate(inner) if runs_ours(handler)]):
                    json.remove(("hooks", event, place, "hooks", at))
            found = True
        return found


def _events(json: JsonText) -> list[str]:
    hooks = json.get("hooks")
    return [str(event) for event in hooks] if isinstance(hooks, dict) else []


def _list(json: JsonText, event: str) -> list[Any]:
    found = json.get("hooks", event)
    return found if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class Block:
    """The instruction block between its marks."""

    def put(self, file: FileText, commands: Commands) -> str:
        """See `Shape`."""
        from backstory.project.agent_rule import TEXT

        return marked_block.put(file, TEXT)

    def drop(self, file: FileText, before: Any) -> str:
        """See `Shape`."""
        return marked_block.drop(file)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is ours as a whole, known by `mark` in it. A foreign file of that name is refused."""

    mark: str
    body: Callable[[Commands], str]

    def put(self, file: FileText, commands: Commands) -> str:
        """See `Shape`."""
        if file.text.strip() and self.mark not in file.text:
            raise BackstoryError(
                f"{file.name} is not ours, and a file of that name would be.",
                hint="Nothing was written there. Call our command from it, or rename it and run this again.",
                code=Exit.REFUSED,
            )
        return self.body(commands)

    def drop(self, file: FileText, before: Any) -> str:
        """See `Shape`. Nothing is left of a file that is ours."""
        return "" if self.mark in file.text else file.text
