"""The files that an installation is about: which of each client, and how our part stands in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from backstory.errors import BackstoryError
from backstory.project.clients import commands as command_lines
from backstory.project.clients.commands import HOOK_PROGRAM, Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Level, Role
from backstory.project.clients.known import CLIENTS
from backstory.project.clients.places import candidates, is_present, path_of, resolved, shown, system
from backstory.project.installing import files, ledger
from backstory.project.merging.file_text import FileText, unpacked
from backstory.project.merging.json_edit import JsonText

ROLES: tuple[Role, ...] = (MCP, HOOKS, INSTRUCTIONS)
_IMPORT = re.compile(r"^[ \t]*@(?:\./)?AGENTS\.md[ \t]*\r?$", re.MULTILINE)
PLUGIN = "backstory@"
AGENTS = "AGENTS.md"
MakeCommands = Callable[[bool], Commands]


@dataclass(slots=True)
class Part:
    """Our part in a file, for one client."""

    client: Client
    file: ConfigFile
    commands: Commands


@dataclass(slots=True)
class Target:
    """A real file with all our parts in it. `name` is how a person reads its path."""

    path: str
    name: str
    parts: list[Part] = field(default_factory=list)

    @property
    def clients(self) -> tuple[str, ...]:
        """The names of the clients whose part it holds, each once."""
        return tuple(dict.fromkeys(part.client.name for part in self.parts))


class Selection:
    """What was asked for: clients, scope, roles. `root` is "" when only the person's files are meant."""

    def __init__(
        self, clients: Iterable[Client], scope: Level, root: str, roles: Iterable[Role] = ROLES,
        make_commands: MakeCommands = lambda committed: command_lines.here(committed=committed),
    ) -> None:  # fmt: skip
        self.clients, self.scope, self.root, self.roles = tuple(clients), scope, root, tuple(roles)
        self._make = make_commands
        self.notes: dict[str, list[str]] = {client.name: [] for client in self.clients}

    def targets(self) -> list[Target]:
        """The files to write, in the order of clients, each real file once. What is left out gets a note."""
        found: dict[str, Target] = {}
        for client in self.clients:
            count = len(found), sum(len(target.parts) for target in found.values())
            for file in client.files:
                if self._wanted(client, file):
                    path = self._path(client, file)
                    self._add(found, path, Part(client, file, self._commands(file)))
            if count == (len(found), sum(len(target.parts) for target in found.values())):
                self._note(client, _nothing(client, self.scope))
        return list(found.values())

    def every_place(self) -> list[Target]:
        """All files in which our part may be, wherever an earlier version or system put it, or which are gone since."""
        found: dict[str, Target] = {}
        for client in self.clients:
            for file in client.files:
                if file.level == self.scope and file.role in self.roles:
                    for path in self._all_paths(client, file):
                        if os.path.lexists(path) or ledger.read(os.path.realpath(path)):
                            self._add(found, path, Part(client, file, self._commands(file)))
        return list(found.values())

    def _add(self, found: dict[str, Target], path: str, part: Part) -> None:
        real = os.path.realpath(path)
        found.setdefault(real, Target(real, shown(path, self.root))).parts.append(part)

    def _commands(self, file: ConfigFile) -> Commands:
        return self._make(file.level == "project" and not file.personal)

    def _note(self, client: Client, text: str) -> None:
        if text and text not in self.notes[client.name]:
            self.notes[client.name].append(text)

    def _wanted(self, client: Client, file: ConfigFile) -> bool:
        if file.level != self.scope or file.role not in self.roles or system() not in file.only:
            return False
        path = path_of(client, file, self.root)
        if file.needs:
            needed = os.path.dirname(path) if file.needs == "." else resolved(file.needs, self.root, client)
            if not os.path.isdir(needed):
                return False
        if file.role == INSTRUCTIONS or holds_ours(client, file.role, path):
            return True
        if brought_by_plugin(client, self.root):
            self._note(client, "Our plugin is enabled in it and brings hooks and server; they are not written twice.")
            return False
        return file.role != HOOKS or not self._runs_already(client, path)

    def _runs_already(self, client: Client, path: str) -> bool:
        """Whether the client would run our hooks twice: those of its other files, or of a client it borrows from."""
        other: Level = "user" if self.scope == "project" else "project"
        also = (resolved(template, self.root, client) for template in client.also_reads)
        for place in (*hook_files(client, other, self.root), *also):
            if place != path and holds_ours(client, HOOKS, place):
                self._note(client, f"Its hooks stand in {shown(place, self.root)} already and are not written twice.")
                return True
        for name in client.hooks_of:
            lender = CLIENTS[name]
            levels: tuple[Level, ...] = ("project", "user")
            places = [place for level in levels for place in hook_files(lender, level, self.root)]
            if lender in self.clients or any(holds_ours(lender, HOOKS, place) for place in places):
                self._note(client, f"It runs the hooks of {lender.title}; a second set is not written.")
                return True
        return False

    def _path(self, client: Client, file: ConfigFile) -> str:
        path = path_of(client, file, self.root)
        if file.role != INSTRUCTIONS or not self.root:
            return path
        agents = os.path.join(self.root, AGENTS)
        if _imports_agents(path):
            self._note(client, f"{shown(path, self.root)} imports AGENTS.md, where the block stands.")
            return agents
        if file.or_agents and not os.path.lexists(path) and (os.path.exists(agents) or self._agents_wanted(client)):
            self._note(client, f"There is no {file.linux}, so it reads AGENTS.md, where the block stands.")
            return agents
        return path

    def _agents_wanted(self, client: Client) -> bool:
        """Whether another client of this run has AGENTS.md for its instructions."""
        return any(
            file.role == INSTRUCTIONS and file.linux == AGENTS
            for other in self.clients
            if other is not client
            for file in other.files
        )

    def _all_paths(self, client: Client, file: ConfigFile) -> list[str]:
        paths = candidates(client, file, self.root)
        if file.role == INSTRUCTIONS and (file.or_agents or any(_imports_agents(path) for path in paths)):
            paths.append(os.path.join(self.root, AGENTS))
        return paths


def detected(root: str) -> list[Client]:
    """The clients that the project or the person uses."""
    return [client for client in CLIENTS.values() if is_present(client, root)]


def hook_files(client: Client, level: Level, root: str) -> Iterator[str]:
    """Where the hooks of a client stand at a level."""
    if level == "user" or root:
        for file in client.files:
            if file.role == HOOKS and file.level == level:
                yield path_of(client, file, root)


def holds_ours(client: Client, role: Role, path: str) -> bool:
    """Whether a file has our part of that role in it; a file that cannot be read has not."""
    text = _text(path)
    if text is None or not text.text.strip():
        return False
    for file in client.files:
        if file.role == role:
            try:
                if file.shape.drop(text, None) != text.text:
                    return True
            except BackstoryError:
                continue
    return False


def brought_by_plugin(client: Client, root: str) -> bool:
    """Whether our plugin is enabled in the client."""
    for template in client.also_reads:
        text = _text(resolved(template, root, client)) if root or template.startswith("~") else None
        if text is None:
            continue
        try:
            enabled = JsonText(text).get("enabledPlugins")
        except BackstoryError:
            continue
        if isinstance(enabled, dict) and any(on is True and name.startswith(PLUGIN) for name, on in enabled.items()):
            return True
    return False


def needs_program(targets: Iterable[Target]) -> bool:
    """Whether something that is written calls `backstory-hook` on PATH."""
    return any(
        part.file.role == HOOKS and HOOK_PROGRAM in part.commands.hook_words("", "")
        for target in targets
        for part in target.parts
    )


def _imports_agents(path: str) -> bool:
    text = _text(path)
    return text is not None and _IMPORT.search(text.text) is not None


def _text(path: str) -> FileText | None:
    try:
        data = files.read(path)
        return None if data is None else unpacked(data, path)
    except BackstoryError:
        return None


def _nothing(client: Client, scope: Level) -> str:
    if scope == "project" and any(file.level == "user" for file in client.files):
        return f"Nothing of it is written in a project; `backstory install {client.name} --user` writes your own files."
    return "Nothing of what was asked for is written for it here."
