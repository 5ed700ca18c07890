"""What every test stands on: a home of its own, no agent around it, git that reads only our settings."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Variables by which agents make themselves known, and those that would steer git or our own output.
_REMOVED_PREFIXES = ("BACKSTORY_", "CLAUDE", "CODEX_", "COPILOT_", "CURSOR_", "GEMINI_", "GIT_", "OPENCODE")
_REMOVED_NAMES = {"AI_AGENT", "AGENT", "CI", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "NO_COLOR"}
_GIT_CONFIG = """\
[user]
\tname = Test Person
\temail = person@example.org
[init]
\tdefaultBranch = main
[commit]
\tgpgSign = false
[core]
\tautocrlf = false
"""

# A slow machine is no fault of the code, so no example has a deadline; pytest-timeout bounds the test.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home folder of its own, and hide the real one, its git settings and any agent."""
    for name in list(os.environ):
        if name.startswith(_REMOVED_PREFIXES) or name in _REMOVED_NAMES:
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    for name, folder in {
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
        "XDG_CACHE_HOME": ".cache",
        "XDG_RUNTIME_DIR": ".run",
        "APPDATA": "AppData/Roaming",
        "LOCALAPPDATA": "AppData/Local",
    }.items():
        monkeypatch.setenv(name, str(home / folder))
    monkeypatch.delenv("XDG_CONFIG_DIRS", raising=False)
    monkeypatch.delenv("XDG_DATA_DIRS", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    git_config = home / ".gitconfig"
    git_config.write_text(_GIT_CONFIG, encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(git_config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    # A test folder without a repository must not find one above the temporary folder.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path_factory.getbasetemp().resolve()))
    return home


@pytest.fixture
def repo(tmp_path: Path, isolated: Path) -> Path:
    """A git repository on branch `main` with one commit, which holds `README.md`."""
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "README.md").write_text("# A project\n", encoding="utf-8")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs that may lie beside the checkout; tests that need it skip without it."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared test data does not lie beside this checkout (../shared/data)")
    return folder
