"""`make demo`: the main job, on a clone of this very repository. Each step prints the command that it runs.

The clone lies in a temporary folder and starts without the project's own memory; nothing in the checkout changes.
Where a person has to speak, the command runs on a terminal of its own (a pty).
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
BACKSTORY, HOOK = str(BIN / "backstory"), str(BIN / "backstory-hook")
AGENT_MARKS = ("CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE", "AI_AGENT", "AGENT", "CI", "AMP_", "CLINE", "COPILOT")


def out(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def title(text: str) -> None:
    out(f"\n== {text}")


class Demo:
    """Runs commands in the clone and keeps what they said."""

    def __init__(self, clone: Path, home: Path) -> None:
        self.clone = clone
        kept = {name: value for name, value in os.environ.items() if not name.startswith(AGENT_MARKS)}
        state = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CACHE_HOME": str(home / "cache")}
        self.env = {**kept, **state, "NO_COLOR": "1", "COLUMNS": "110"}

    def run(self, *words: str, code: int = 0, stdin: str = "", show: bool = True) -> str:
        """A command as an agent or a script runs it."""
        out(f"$ {shown(words)}")
        command = [
            BACKSTORY if words[0] == "backstory" else HOOK if words[0] == "backstory-hook" else words[0],
            *words[1:],
        ]
        done = subprocess.run(
            command,
            cwd=self.clone,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return self._said(done.stdout + done.stderr, done.returncode, code, show)

    def person(self, *words: str, code: int = 0) -> str:
        """The same, with a person at a terminal."""
        out(f"$ {shown(words)}          (a person at a terminal)")
        if os.name == "nt":
            out("  (no pty on this system: skipped)")
            return ""
        import pty

        pid, handle = pty.fork()
        if pid == 0:
            os.chdir(self.clone)
            os.execve(BACKSTORY, [BACKSTORY, *words[1:]], self.env)
        said = bytearray()
        try:
            while data := os.read(handle, 4096):
                said += data
        except OSError:
            pass  # Linux says so when the other side is gone
        _, status = os.waitpid(pid, 0)
        os.close(handle)
        text = said.decode("utf-8", "replace").replace("\r\n", "\n")
        return self._said(text, os.waitstatus_to_exitcode(status), code, True)

    def _said(self, text: str, got: int, wanted: int, show: bool) -> str:
        if show:
            for line in text.rstrip().splitlines():
                out(f"  {line}")
        if got != wanted:
            raise SystemExit(f"the command ended with {got}, not {wanted}:\n{text}")
        if wanted:
            out(f"  (exit {got})")
        return text


def shown(words: tuple[str, ...]) -> str:
    return " ".join(shlex.quote(word) for word in words)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="backstory-demo-") as folder:
        place = Path(folder).resolve()
        (place / "home").mkdir()
        clone = place / "backstory"
        out(f"$ git clone {ROOT} {clone}")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        set_aside(clone)
        show(Demo(clone, place / "home"))
        out("\nAll steps went as they should.")


def set_aside(clone: Path) -> None:
    """The demo starts empty: the memory that the project keeps of itself leaves the clone by a commit of its own."""
    if not (clone / ".backstory").exists():
        return
    git = ["git", "-C", str(clone), "-c", "user.name=demo", "-c", "user.email=demo@example.invalid"]
    subprocess.run([*git, "rm", "-rq", ".backstory"], check=True)
    subprocess.run([*git, "commit", "-qm", "Set the project's own memory aside"], check=True)
    shutil.rmtree(clone / ".backstory", ignore_errors=True)
    out("  (its own memory is set aside: this one starts empty)")


def show(demo: Demo) -> None:
    title("Start a memory")
    demo.run("backstory", "init")
    title("Record one entry of each kind")
    ids = record_all(demo)
    title("Supersede a decision: the old one never comes back untagged")
    demo.run(
        "backstory", "supersede", ids["decision"], "Write the index in WAL mode with BEGIN IMMEDIATE",
        "--why", "deferred transactions lost writes to busy errors",
    )  # fmt: skip
    demo.run("backstory", "search", "WAL", "mode")
    title("Reject a value, and try it again")
    demo.person("backstory", "reject", ids["note"], "--why", "the cache was wrong after a rebase")
    demo.run("backstory", "note", "cache GIT status, between two sessions!", code=4)
    title("Damage the log's tail and go on")
    damage(demo)
    title("The brief, as the hook prints it at session start")
    brief = hook(demo)
    title("A search through the official MCP client")
    found = asyncio.run(ask(demo))
    title("Delete every derived file: the same answers")
    for path in sorted((demo.clone / ".git" / "backstory").glob("index.sqlite*")):
        out(f"$ rm {path.relative_to(demo.clone)}")
        path.unlink()
    if hook(demo) != brief or asyncio.run(ask(demo)) != found:
        raise SystemExit("the answers differ after the rebuild")
    out("  the same brief and the same hits")
    title("The state of it all")
    demo.run("backstory", "status")


def record_all(demo: Demo) -> dict[str, str]:
    """One entry of each kind, with anchors; the ids by kind."""
    said: dict[str, str] = {}

    def record(kind: str, *words: str) -> None:
        text = demo.run("backstory", *words, "--json", show=False)
        said[kind] = json.loads(text[: text.rindex("}") + 1])["data"]["id"]
        out(f"  recorded {kind} {said[kind][-6:]}")

    record("decision", "decide", "Write the index in WAL mode", "--why", "readers must not wait for a writer",
           "--rejected", "rollback journal", "--file", "src/backstory/index/store.py#connect")  # fmt: skip
    record("trial", "tried", "Rename a rebuilt index over the live one", "--failed",
           "a WAL left over brought old rows back", "--file", "src/backstory/index/build.py#remake")  # fmt: skip
    record("hotfile", "hot", "src/backstory/records/codec.py", "a change here changes every hash that was ever written")
    record(
        "pattern", "pattern", "Transactions begin with BEGIN IMMEDIATE", "--file", "src/backstory/project/refresh.py"
    )
    record(
        "issue",
        "issue",
        "The brief costs more with a thousand changed files",
        "--file",
        "src/backstory/recall/brief.py",
    )
    record("issuenote", "observe", said["issue"], "Only the working set grows; the look-ups are bounded")
    record("hypothesis", "hypothesis", said["issue"], "git status itself is what takes the time")
    record("fix", "fixed", said["issue"], "Look-ups stop at 200 paths", "--file", "src/backstory/recall/brief.py:1-20")
    record("lesson", "lesson", "Deferred transactions do not wait for a lock", "--library", "sqlite3@>=3.37")
    record("note", "note", "Cache git status between two sessions")
    return said


def damage(demo: Demo) -> None:
    shard = sorted((demo.clone / ".backstory" / "log").glob("*.jsonl"))[-1]
    out(f'$ printf \'{{"id":"01\' >> .backstory/log/{shard.name}')
    with shard.open("ab") as file:
        file.write(b'{"id":"01')
    demo.run("backstory", "verify", code=5)
    demo.run("backstory", "tried", "Append without looking at the last byte", "--failed", "two lines became one")
    demo.run("backstory", "verify")
    demo.run("backstory", "search", "last", "byte")


def hook(demo: Demo) -> str:
    given = {"session_id": "demo", "transcript_path": "", "cwd": str(demo.clone), "hook_event_name": "SessionStart"}
    text = demo.run(
        "backstory-hook", "claude-code", "SessionStart", stdin=json.dumps({**given, "source": "startup"}), show=False
    )
    context: str = json.loads(text)["hookSpecificOutput"]["additionalContext"]
    for line in context.splitlines():
        out(f"  {line}")
    return context


async def ask(demo: Demo) -> list[str]:
    """The summaries that search_project_memory gives over stdio."""
    from mcp import Client, StdioServerParameters

    out("$ backstory mcp --role read     (search_project_memory, query 'busy errors')")
    server = StdioServerParameters(command=BACKSTORY, args=["mcp", "--role", "read"], env=demo.env, cwd=str(demo.clone))
    async with Client(server) as client:
        result = await client.call_tool(
            "search_project_memory", {"query": "busy errors", "project_path": str(demo.clone)}
        )
    text = "\n".join(getattr(part, "text", "") for part in result.content)
    for line in text.splitlines()[:12]:
        out(f"  {line[:150]}")
    return text.splitlines()


if __name__ == "__main__":
    main()
