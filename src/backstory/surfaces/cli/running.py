"""One run of one command: the project that it works on, who runs it, and how it answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli import console
from backstory.surfaces.cli.registry import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project
    from backstory.records.event import By

# The version of the JSON answers: raised when a key goes or changes its meaning, not when one is added.
JSON_VERSION = 1
Made = TypeVar("Made", bound=Callable[..., Any])


class Run:
    """What a command is given. `start` is the folder that `--project` named, or the current one."""

    __slots__ = ("_opened", "_said", "as_json", "command", "start")

    def __init__(self, command: str, start: str, as_json: bool) -> None:
        self.command, self.as_json = command, as_json
        self.start = start or _here()
        self._opened: Project | None = None
        self._said = 0

    def open(self, *, warn: bool = True) -> Project:
        """The project, opened once. What has to be said beside the answer goes to stderr."""
        if self._opened is None:
            from backstory.project.refresh import open_project

            with console.patience("bringing the index up to date"):
                self._opened = open_project(self.start)
            self.notices()
            if warn and COMMANDS[self.command].reads:
                _warn(self._opened)
        return self._opened

    @property
    def cwd(self) -> str:
        """Where relative paths begin: the current folder, or the project's when we stand outside of it."""
        root, here = self.open().root, os.path.realpath(_here())
        return here if here == root or here.startswith(root.rstrip(os.sep) + os.sep) else root

    def inside(self, path: str | None) -> str | None:
        """`path` as typed here, relative to the project; None stays None."""
        if path is None:
            return None
        from backstory.project.paths import relative

        return relative(self.open().root, path, self.cwd)

    def by(self) -> By:
        """Who is really writing."""
        from backstory.project.authority import writer

        return writer(self.open().root)

    def notices(self) -> None:
        """Say the project's notices that were not said yet."""
        if self._opened is not None:
            for notice in self._opened.notices[self._said :]:
                console.tell(f"backstory: {console.clean(notice)}")
            self._said = len(self._opened.notices)

    def close(self) -> None:
        """Say what is left to say and give the project back."""
        if self._opened is not None:
            self.notices()
            self._opened.close()

    def answer(self, value: Any, lines: Callable[[], Iterable[str]]) -> None:
        """The answer: `value` as JSON when that was asked for, else `lines`."""
        if self.as_json:
            self.json(value)
        else:
            console.say_all(lines())

    def json(self, value: Any) -> None:
        """`value` under `data`, in one line of JSON."""
        console.say(self.json_line(value))

    def json_line(self, value: Any) -> str:
        """The line that `json` prints."""
        import msgspec

        body = {"backstory": JSON_VERSION, "command": self.command, "data": value}
        try:
            return console.escaped(msgspec.json.encode(body).decode("utf-8"))
        except UnicodeError:
            # A file name that is no text: JSON can hold what UTF-8 cannot.
            import json

            return json.dumps(msgspec.to_builtins(body))


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise BackstoryError(
            "The current folder no longer exists.", hint="Go to another one, or name the project with `--project PATH`."
        ) from error


def _warn(project: Project) -> None:
    count = project.problem_count()
    if count:
        what = "1 problem" if count == 1 else f"{count} problems"
        console.tell(f"backstory: the log has {what}; run `backstory verify`")


def make(
    name: str, *examples: str, project: bool = True, json: bool = True
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a click command of a function that takes a `Run` first; `name` is its name in the registry.

    The first line of its help is the registry's, its docstring follows, and `examples` end it.
    """
    known = COMMANDS[name]

    def wrap(function: Callable[..., Any]) -> click.Command:
        def call(**values: Any) -> Any:
            ctx = click.get_current_context()
            above = ctx.obj or {}
            start = values.pop("project", None) or above.get("project") or ""
            if start and not os.path.exists(start):
                raise BackstoryError(f"{start} does not exist.", hint="Name a folder of a project with `--project`.")
            run = Run(name, start, bool(values.pop("as_json", False) or above.get("as_json")))
            try:
                return function(run, **values)
            finally:
                run.close()

        text = f"{known.help}\n\n{_unwrapped(function.__doc__ or '')}"
        shown = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples) if examples else None
        params = [*getattr(function, "__click_params__", [])[::-1]]
        params += [
            click.Option(["--project"], metavar="PATH", help="A folder of the project (default: here).")
        ] * project
        params += [click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object.")] * json
        return click.Command(
            name.rpartition(" ")[2], callback=call, params=params, help=text, short_help=known.help, epilog=shown,
            context_settings={"help_option_names": ["-h", "--help"]},
        )  # fmt: skip

    return wrap


def _unwrapped(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))
