"""Starts a real client without a network: a home of its own, the model on loopback, our hooks installed by hand."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.hooks.session import ENTRY
from tests.project.memory import Memory
from tests.real_clients.mock_model import DONE, Model

SECONDS = 90
Move = tuple[str, dict[str, Any]]
Apart = tuple[str, Sequence[Move]]


def command(client: str, event: str) -> str:
    """A hook's command line as the installer writes it."""
    return shlex.join([sys.executable, "-I", "-S", str(ENTRY), client, event])


class Client:
    """What both have in common: the program, the project and the home folder."""

    # Where it keeps its transcripts, when that is not below the home folder.
    places: dict[str, str]

    def __init__(self, program: Path, memory: Memory, home: Path) -> None:
        self.places = {}
        self.program, self.memory, self.root, self.home = program, memory, memory.root, home
        self.watched = self.root / "src/a.py"

    def _run(self, words: Sequence[str], env: dict[str, str], model: Model, says: str = DONE) -> Model:
        done = subprocess.run(
            [str(self.program), *words],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **env},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        self.output = done.stdout + done.stderr
        assert done.returncode == 0, self.output
        assert says in done.stdout, self.output
        assert not model.moves and not model.moves_apart, self.output
        return model

    def _model(self, moves: Sequence[Move], apart: Apart = ("", ())) -> Model:
        return Model(moves, lambda: self.watched.read_text(encoding="utf-8"), apart)

    def backstory(self, *words: str) -> Any:
        """What a command of ours says as JSON, to the person whose client this is."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), **self.places}
        done = subprocess.run(
            [sys.executable, "-m", "backstory", *words, "--json"],
            cwd=self.root, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["data"]

    @property
    def noted(self) -> list[str]:
        """The lines of all session files."""
        folder = self.root / ".git/backstory/sessions"
        return [line for path in sorted(folder.glob("*.txt")) for line in path.read_text("utf-8").splitlines()]


class Claude(Client):
    """Claude Code, headless (`-p`)."""

    EVENTS = (
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop",
        "SessionEnd",
    )  # fmt: skip

    def install(self, *, instead: dict[str, str] | None = None, timeout: int = 5) -> None:
        """Write the project's settings; `instead` has other commands for some events."""
        hooks = {
            event: [{"hooks": [{"type": "command", "command": text, "timeout": timeout}]}]
            for event in self.EVENTS
            if (text := (instead or {}).get(event, command("claude-code", event)))
        }
        (self.root / ".claude").mkdir(exist_ok=True)
        (self.root / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")

    def run(
        self,
        prompt: str,
        *moves: Move,
        words: Sequence[str] = (),
        env: dict[str, str] | None = None,
        apart: Apart = ("", ()),
        says: str = DONE,
    ) -> Model:
        """One session with these moves of the model; `says` is what the client prints in the end."""
        with self._model(moves, apart) as model:
            env = {
                **(env or {}),
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
            }
            given = ["-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash", *words]
            return self._run(given, env, model, says)

    def shell(self, text: str) -> Move:
        """The model runs a command."""
        return "Bash", {"command": text}

    def read(self) -> Move:
        """The model reads `src/a.py`."""
        return "Read", {"file_path": str(self.watched)}

    def edit(self, old: str, new: str) -> Move:
        """The model edits `src/a.py`."""
        return "Edit", {"file_path": str(self.watched), "old_string": old, "new_string": new}


class Codex(Client):
    """Codex, headless (`exec`), with a model that it offers its patch tool to."""

    EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    MODEL = "gpt-5.5"

    def __init__(self, program: Path, memory: Memory, home: Path) -> None:
        super().__init__(program, memory, home)
        self.places = {"CODEX_HOME": str(home)}

    def install(self, *, instead: dict[str, str] | None = None, timeout: int = 5) -> None:
        """Write the project's `hooks.json`."""
        hooks = {
            event: [{"hooks": [{"type": "command", "command": text, "timeout": timeout}]}]
            for event in self.EVENTS
            if (text := (instead or {}).get(event, command("codex", event)))
        }
        (self.root / ".codex").mkdir(exist_ok=True)
        (self.root / ".codex/hooks.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")

    def run(
        self,
        prompt: str,
        *moves: Move,
        words: Sequence[str] = (),
        env: dict[str, str] | None = None,
        trusted: bool = True,
        more: str = "",
    ) -> Model:
        """One session with these moves of the model; `more` goes into its configuration."""
        with self._model(moves) as model:
            (self.home / "config.toml").write_text(self._config(model.url) + more, encoding="utf-8")
            given = ["exec", *(["--dangerously-bypass-hook-trust"] if trusted else []), *words, prompt]
            return self._run(given, {**(env or {}), **self.places, "MOCK_KEY": "none"}, model)

    def _config(self, url: str) -> str:
        return f"""\
model = "{self.MODEL}"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

[projects.{json.dumps(str(self.root))}]
trust_level = "trusted"
"""

    def patch(self, old: str, new: str) -> Move:
        """The model patches `src/a.py`."""
        return "apply_patch", {"input": patch_text(old, new)}

    def shell(self, text: str) -> Move:
        """The model runs a command."""
        return "exec_command", {"cmd": text}


def patch_text(old: str, new: str) -> str:
    """A patch of `src/a.py` as Codex takes it."""
    rows = [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())]
    return "\n".join(["*** Begin Patch", "*** Update File: src/a.py", "@@", *rows, "*** End Patch"])
