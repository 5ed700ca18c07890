"""`doctor` tries what the clients would start: it says what is broken and what helps, and mends it when asked to."""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import backstory
from backstory.project.clients.contract import HOOKS, MCP, Level, Role
from backstory.project.clients.known import CLIENTS, named
from backstory.project.doctor import Check, DoctorReport, doctor
from backstory.project.doctoring import trying
from backstory.project.installing.applying import apply
from backstory.project.installing.planning import plan
from backstory.project.installing.targets import ROLES, Selection
from backstory.project.installing.undoing import apply_removal, plan_removal
from tests.project.memory import Memory

VENV = os.path.dirname(sys.executable)


def install(memory: Memory, *clients: str, scope: Level = "user", roles: tuple[Role, ...] = ROLES) -> None:
    """As `backstory install CLIENTS --yes`."""
    apply(plan(Selection([named(name) for name in clients], scope, str(memory.root), roles)))


def run(memory: Memory, *, fix: bool = False) -> DoctorReport:
    return doctor(str(memory.root), fix=fix, now=memory.now)


def found(report: DoctorReport, *names: str, good: bool = False) -> list[Check]:
    """The checks of these names, those that are good left out unless they are asked for."""
    wanted = names or ("clients", "hooks", "mcp", "codex", "git hooks")
    return [check for check in report.checks if check.name in wanted and (good or check.state != "good")]


def said(checks: list[Check]) -> str:
    return "\n".join(f"{check.state} {check.message} | {check.fix}" for check in checks)


def swap(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def tree(*folders: Path) -> dict[str, str]:
    """Every file below, with its bytes and mode."""
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): f"{path.stat().st_mode} {hashlib.sha1(path.read_bytes()).hexdigest()}" for path in paths}


def elsewhere(folder: Path, body: str, version: str = backstory.__version__) -> Path:
    """An installation in another place, whose hooks do what `body` says; its entry file."""
    entry = folder / "backstory/surfaces/hooks/entry.py"
    entry.parent.mkdir(parents=True)
    (folder / "backstory/__init__.py").write_text(f'__version__ = "{version}"\n', encoding="utf-8")
    entry.write_text(body, encoding="utf-8")
    return entry


def our_entry() -> str:
    return str(Path(backstory.__file__).parent / "surfaces/hooks/entry.py")


@pytest.fixture(autouse=True)
def no_client_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs these tests may have coding agents."""
    which, programs = shutil.which, {program for client in CLIENTS.values() for program in client.programs}
    monkeypatch.setattr(shutil, "which", lambda name, **more: None if name in programs else which(name, **more))


@pytest.fixture
def home(isolated: Path) -> Path:
    return isolated


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A memory with something to say to a session, and a clock that is the system's: hooks have no other."""
    memory.put("src/store.py", "one = 1\n")
    memory.commit("Add")
    memory.now = time.time_ns() // 1000
    memory.add("decision", "Keep one connection", files=["src/store.py"])
    memory.put("src/store.py", "two = 2\n")
    return memory


def test_what_is_installed_is_run_as_the_clients_would_and_nothing_changes(
    told: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{VENV}{os.pathsep}{os.environ['PATH']}")
    install(told, "claude-code", "codex")
    install(told, "cursor", "cline", "opencode", "gemini", "windsurf", "vscode", scope="project")
    run(told)
    before = tree(home, told.root)
    report = run(told)
    assert tree(home, told.root) == before
    assert report.healthy, said(found(report))
    good = said(found(report, "hooks", "mcp", good=True))
    for title, count in (("Claude Code", 8), ("Codex CLI", 6), ("Cursor", 7), ("Cline", 4), ("OpenCode", 3)):
        assert f"{title}: {count} hooks answer within" in good
        assert "a session gets the brief" in next(line for line in good.splitlines() if f" {title}:" in line)
    assert "the server in .cursor/mcp.json" in good and "~/.claude.json" in good
    assert [check.name for check in found(report)] == ["codex"]


def test_nothing_is_said_of_clients_that_are_not_here_and_one_that_is_can_be_set_up(told: Memory) -> None:
    assert said(found(run(told), good=True)) == "good no coding agent was found here | "
    told.put("CLAUDE.md", "Be kind.\n")
    (check,) = found(run(told))
    assert (check.state, check.message) == ("advice", "not set up in Claude Code")
    assert "`backstory install claude-code`" in check.fix
    install(told, "claude-code", scope="project", roles=(HOOKS,))
    assert found(run(told)) == []


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_file_that_we_wrote_to_and_that_broke_is_bad_whatever_is_left_in_it(
    told: Memory, home: Path, scope: Level
) -> None:
    path = (told.root / ".cursor" if scope == "project" else home / ".cursor") / "mcp.json"
    path.parent.mkdir()
    path.write_text("{ broken", encoding="utf-8")
    assert not [check for check in found(run(told)) if "mcp.json" in check.message]
    path.write_text('{"mcpServers": {}}\n', encoding="utf-8")
    install(told, "cursor", scope=scope, roles=(MCP,))
    assert not [check for check in found(run(told)) if "valid JSON" in check.message]
    path.write_text("{ broken", encoding="utf-8")
    report = run(told)
    [broken] = [check for check in found(report) if "mcp.json" in check.message]
    assert broken.state == "bad" and not report.healthy and "`backstory install cursor" in broken.fix
    assert path.read_text(encoding="utf-8") == "{ broken"


@pytest.mark.parametrize("left", ["{}\n", None])
def test_a_file_that_lost_our_entries_is_told_until_it_is_written_again_or_uninstalled(
    told: Memory, left: str | None
) -> None:
    install(told, "cursor", scope="project")
    path = told.root / ".cursor/mcp.json"

    def lost() -> list[Check]:
        return [check for check in found(run(told)) if "wrote to it" in check.message]

    def lose() -> None:
        path.unlink() if left is None else path.write_text(left, encoding="utf-8")

    assert lost() == []
    lose()
    [advice] = lost()
    assert advice.state == "advice" and advice.message.startswith(".cursor/mcp.json ")
    assert "`backstory install cursor`" in advice.fix and "`backstory uninstall cursor`" in advice.fix
    install(told, "cursor", scope="project")
    assert lost() == []
    lose()
    apply_removal(plan_removal(Selection([named("cursor")], "project", str(told.root), ROLES)))
    assert lost() == [] and (path.exists() == (left is not None))


@pytest.mark.parametrize("gone", ["interpreter", "entry"])
def test_a_path_that_is_gone_is_named_and_written_again_and_what_else_is_in_the_file_stays(
    told: Memory, home: Path, gone: str
) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}\n')
    install(told, "claude-code", "codex", roles=(HOOKS,))
    sound = settings.read_text(encoding="utf-8")
    old = f"{VENV}/python" if gone == "interpreter" else our_entry()
    new = "/gone/python" if gone == "interpreter" else "/gone/backstory/surfaces/hooks/entry.py"
    for path in (settings, home / ".codex/hooks.json"):
        swap(path, old, new)
    report = run(told)
    assert not report.healthy
    broken = [check for check in found(report) if check.state == "bad"]
    assert [check.message for check in broken] == [
        f"~/.claude/settings.json starts {new}, which is gone",
        f"~/.codex/hooks.json starts {new}, which is gone",
    ]
    assert {check.fix for check in broken} == {"`backstory doctor --fix`"}
    assert settings.read_text(encoding="utf-8") != sound
    fixed = run(told, fix=True)
    assert fixed.healthy and [check.state for check in found(fixed, "clients")] == ["fixed", "fixed"]
    assert json.loads(settings.read_text(encoding="utf-8")) == json.loads(sound)
    assert run(told).healthy
    again = tree(home)
    run(told, fix=True)
    assert tree(home) == again


def test_a_server_that_is_gone_is_written_again_and_one_that_starts_is_left(
    told: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{VENV}{os.pathsep}{os.environ['PATH']}")
    install(told, "claude-code", "codex", roles=(MCP,))
    config = home / ".codex/config.toml"
    swap(config, f"{VENV}/backstory", "/gone/backstory")
    assert "~/.codex/config.toml starts /gone/backstory, which is gone" in said(found(run(told)))
    other = home / ".claude.json"
    swap(other, f'"{VENV}/backstory"', f'"{VENV}/python"')
    swap(other, '"mcp"', '"-m", "backstory", "mcp"')
    kept = other.read_bytes()
    assert run(told, fix=True).healthy
    assert "/gone/" not in config.read_text(encoding="utf-8")
    assert other.read_bytes() == kept


def test_a_program_that_is_not_on_path_is_said_once_with_all_that_start_it(
    told: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = shutil.which("git")
    assert git is not None
    monkeypatch.setenv("PATH", os.path.dirname(git))
    if shutil.which("backstory-hook"):
        pytest.skip("backstory lies beside git here")
    install(told, "cursor", "gemini", scope="project", roles=(HOOKS,))
    (check,) = found(run(told))
    assert (
        check.message == "`backstory-hook` is not on PATH, and is started by .cursor/hooks.json, .gemini/settings.json"
    )
    # Somebody else's files: nobody here has these clients.
    assert check.state == "advice" and "pipx" in check.fix
    (Path.home() / ".cursor").mkdir()
    assert [check.state for check in found(run(told))] == ["bad"]
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "backstory-hook").symlink_to(Path(VENV) / "backstory-hook")
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.path.dirname(git)}")
    assert found(run(told)) == []


def test_another_installation_is_named_with_its_version_and_not_taken_over(
    told: Memory, home: Path, tmp_path: Path
) -> None:
    install(told, "codex", roles=(HOOKS,))
    entry = elsewhere(tmp_path / "other", "print('{}')\n", version="9.9")
    path = home / ".codex/hooks.json"
    swap(path, our_entry(), str(entry))
    kept = path.read_bytes()
    report = run(told, fix=True)
    (check,) = found(report, "clients")
    assert check.state == "advice" and report.healthy
    assert f"{tmp_path}/other/backstory (version 9.9)" in check.message
    assert "`backstory install codex --user`" in check.fix
    assert path.read_bytes() == kept


def test_a_project_file_is_run_only_in_the_words_that_install_writes(told: Memory, home: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    entry = elsewhere(tmp_path / "evil", f"open({str(marker)!r}, 'a').close()\n")
    words = f"{sys.executable} -I -S {entry}"
    hooks = {"version": 1, "hooks": {"stop": [{"command": f"{words} cursor stop"}]}}
    told.put(".cursor/hooks.json", json.dumps(hooks))
    told.put(".mcp.json", json.dumps({"mcpServers": {"backstory": {"command": str(entry), "args": ["mcp"]}}}))
    entry.chmod(0o755)
    report = run(told)
    assert "starts another installation" in said(found(report))
    assert not marker.exists()
    # The person's own file is another matter.
    (home / ".cursor").mkdir()
    (home / ".cursor/hooks.json").write_text(json.dumps(hooks), encoding="utf-8")
    run(told)
    assert marker.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import sys; sys.stderr.write('boom'); sys.exit(3)", "ended with exit code 3: boom"),
        ("print('Hello')", "answered with something that is no JSON"),
        ("import sys; sys.stderr.write('backstory: the memory could not be read (X)')", "did nothing: the memory"),
        ("pass", "gave a session no brief, although there is one"),
    ],
)
def test_a_hook_that_fails_is_named_with_what_it_did(
    told: Memory, home: Path, tmp_path: Path, body: str, words: str
) -> None:
    install(told, "codex", roles=(HOOKS,))
    swap(home / ".codex/hooks.json", our_entry(), str(elsewhere(tmp_path / "other", body)))
    report = run(told)
    assert not report.healthy
    bad = [check for check in found(report, "hooks") if words in check.message]
    assert any(f"~/.codex/hooks.json: the hook SessionStart {words}" in check.message for check in bad)
    assert all(check.fix.startswith(f"run it yourself to see why: {VENV}/python -I -S") for check in bad)


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_a_hook_that_hangs_is_ended_in_time_with_all_that_it_started(
    told: Memory, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: Callable[[int], bool]
) -> None:
    monkeypatch.setattr(trying, "TIMEOUT_SECONDS", 0.5)
    pids = tmp_path / "pids"
    body = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n{{child.pid}}\\n')\n"
        "time.sleep(600)\n"
    )
    install(told, "windsurf", roles=(HOOKS,))
    swap(home / ".codeium/windsurf/hooks.json", our_entry(), str(elsewhere(tmp_path / "other", body)))
    report = run(told)
    assert said(found(report, "hooks")).count("did not end within 0.5 seconds") == 3
    known = [int(line) for line in pids.read_text().split()]
    assert len(known) == 6
    deadline = time.monotonic() + 10
    while not all(map(gone, known)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_when_hooks_take_too_long_the_rest_is_not_tried_and_that_is_said(
    told: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(told, "codex", roles=(HOOKS,))
    assert "6 hooks answer" in said(found(run(told), "hooks", good=True))
    monkeypatch.setattr(trying, "ALL_SECONDS", 0.0)
    assert "6 more were not tried" in said(found(run(told), "hooks"))


@pytest.fixture
def gone() -> Callable[[int], bool]:
    from backstory.project.watching.life import is_alive

    return lambda pid: not is_alive(pid)


def test_a_server_that_ends_hangs_or_offers_nothing_is_named(
    told: Memory, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "SERVER_SECONDS", 1.0)
    program = tmp_path / "backstory"
    (home / ".claude.json").write_text(
        json.dumps({"mcpServers": {"backstory": {"command": str(program), "args": ["mcp"]}}}), encoding="utf-8"
    )
    for body, words in (
        ("import sys; sys.exit('no SDK here')", "ended without an answer to initialize: no SDK here"),
        ("import time; time.sleep(600)", "did not answer initialize in time"),
        (
            "import sys, json\nfor line in sys.stdin:\n m = json.loads(line)\n"
            " if 'id' in m: print(json.dumps({'id': m['id'], 'result': {}}), flush=True)",
            "offers no tool",
        ),
        (
            "import sys, json\nfor line in sys.stdin:\n m = json.loads(line)\n"
            " if 'id' in m: print(json.dumps({'id': m['id'], 'error': {'code': -32601}}), flush=True)",
            "offers no tool",
        ),
    ):
        program.write_text(f"#!{sys.executable}\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        (check,) = [check for check in found(run(told)) if check.state == "bad"]
        assert check.message == f"~/.claude.json: the server {words}"


def test_codex_is_known_to_skip_hooks_until_they_are_trusted(told: Memory, home: Path) -> None:
    install(told, "codex", roles=(HOOKS, MCP))
    (check,) = found(run(told), "codex")
    assert check.state == "advice" and "/hooks" in check.fix
    assert check.message == "Codex skips every hook of ~/.codex/hooks.json until you trust it"
    path = home / ".codex/hooks.json"
    events = ("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "session_end")

    def trust(names: tuple[str, ...]) -> None:
        with (home / ".codex/config.toml").open("a", encoding="utf-8") as file:
            for name in names:
                file.write(f'\n[hooks.state."{path}:{name}:0:0"]\ntrusted_hash = "sha256:0"\n')

    trust(events[:4])
    (check,) = found(run(told), "codex")
    assert check.message == "Codex skips Stop, SessionEnd of ~/.codex/hooks.json until you trust it"
    trust(events[4:])
    assert [check.state for check in found(run(told), "codex", good=True)] == ["good"]


def test_git_hooks_whose_launcher_is_broken_are_mended_and_tried(told: Memory) -> None:
    from backstory.config import load
    from backstory.project.git_hooks.changes import apply as make
    from backstory.project.git_hooks.installing import plan_install

    assert found(run(told), "git hooks", good=True) == []
    make(plan_install(load(str(told.root)).places))
    assert "which answers within" in said(found(run(told), "git hooks", good=True))
    launcher = told.root / ".git/backstory/git-hook"
    swap(launcher, f"python='{sys.executable}'", "python='/gone/python'")
    report = run(told)
    assert not report.healthy and "gone" in said(found(report, "git hooks"))
    assert run(told, fix=True).healthy
    assert [check.state for check in found(run(told), "git hooks", good=True)] == ["good"]
    launcher.unlink()
    assert "is missing" in said(found(run(told), "git hooks"))


def test_a_file_that_cannot_be_read_is_named_with_its_line_and_left_alone(told: Memory) -> None:
    path = told.put(".mcp.json", '{\n  "mcpServers": {"backstory": }\n}\n')
    before = path.read_bytes()
    (check,) = found(run(told, fix=True))
    assert check.state == "bad" and check.message.startswith(".mcp.json: line 2 ")
    assert "`backstory install claude-code`" in check.fix
    assert path.read_bytes() == before
    told.put(".mcp.json", '{\n  "other": {}\n}\n')
    install(told, "claude-code", scope="project", roles=(MCP,))
    assert ".mcp.json: line" not in said(found(run(told)))


def test_a_server_of_the_project_is_tried_with_the_options_that_clients_add_and_with_no_others(
    told: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{VENV}{os.pathsep}{os.environ['PATH']}")

    def answers(*options: str) -> str:
        server = {"command": "backstory", "args": ["mcp", *options]}
        told.put(".mcp.json", json.dumps({"mcpServers": {"backstory": server}}))
        return said(found(run(told), good=True))

    assert "the server in .mcp.json answers" in answers("--brief", "--role", "read")
    refused = answers("--project", "/")
    assert "in a way that install does not write; it was not tried" in refused and "answers" not in refused


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_script_that_is_no_executable_is_named(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{VENV}{os.pathsep}{os.environ['PATH']}")
    install(told, "cline", scope="project", roles=(HOOKS,))
    path = told.root / ".clinerules/hooks/TaskStart"
    assert found(run(told)) == []
    path.chmod(0o644)
    (check,) = found(run(told))
    assert check.fix == f"`chmod +x {path}`"
    os.system(check.fix.strip("`"))
    assert found(run(told)) == []


def test_what_an_earlier_version_wrote_is_brought_up_to_date(told: Memory, home: Path) -> None:
    install(told, "claude-code", roles=(HOOKS,))
    path = home / ".claude/settings.json"
    sound = json.loads(path.read_text(encoding="utf-8"))
    del sound["hooks"]["PostToolUse"]
    path.write_text(json.dumps(sound), encoding="utf-8")
    (check,) = found(run(told))
    assert (check.state, check.fix) == ("advice", "`backstory doctor --fix`")
    run(told, fix=True)
    assert found(run(told)) == []
    assert "PostToolUse" in json.loads(path.read_text(encoding="utf-8"))["hooks"]


def test_the_instructions_that_clients_share_stay_those_of_who_they_were_written_for(told: Memory) -> None:
    from backstory.project.installing import ledger

    install(told, "codex", scope="project", roles=("instructions",))
    path = told.root / "AGENTS.md"
    swap(path, "<!-- backstory:end -->", "an older line\n<!-- backstory:end -->")
    assert "AGENTS.md is not as this version writes it" in said(found(run(told)))
    run(told, fix=True)
    assert "an older line" not in path.read_text(encoding="utf-8")
    known = ledger.read(str(path))
    assert known is not None and known[0].clients == ["codex"]


def test_every_client_that_has_hooks_or_a_server_is_looked_at(
    told: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each client's entries are found in the file that the installer writes, whatever their form."""
    from backstory.project.doctoring import entries

    monkeypatch.setenv("PATH", f"{VENV}{os.pathsep}{os.environ['PATH']}")
    for folder in (".config/Code/User", ".copilot"):
        (home / folder).mkdir(parents=True)
    for client in CLIENTS.values():
        for scope in ("project", "user"):
            apply(plan(Selection([client], scope, str(told.root))))
    starts = [start for place in entries.places(str(told.root)) for start in entries.starts(place)]
    assert all(start.words for start in starts)
    for client in CLIENTS.values():
        mine = [start for start in starts if start.part.client is client]
        wanted = {hook.event for hook in client.events} if not client.hooks_of else set()
        assert wanted <= {start.event for start in mine}, client.name
        assert any(not start.event for start in mine), client.name
