"""What users receive: the package and nothing else.

Agent instruction files steer whoever opens them, and the project's own log is not the user's, so neither
may travel in an archive. The archives are built from a copy of the tree with the build backend itself.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP_FILES_OF_SDIST = {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
# Lower case; compared with every part of a member's path.
NEVER_SHIPPED = {
    *("agents.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules", ".mcp.json"),
    *(".backstory", ".claude", ".codex", ".cursor"),
    *(".ci", ".git", ".github", ".venv", "__pycache__", "conftest.py", "tests"),
}


def wheel_findings(names: list[str]) -> list[str]:
    """What is wrong with the member names of a wheel."""
    findings = _forbidden(names)
    for name in names:
        top = PurePosixPath(name).parts[0]
        if top != "backstory" and not re.fullmatch(r"backstory-[^/-]+\.dist-info", top):
            findings.append(f"{name} lies outside the package.")
    return findings


def sdist_findings(names: list[str]) -> list[str]:
    """What is wrong with the member names of an sdist, each with its top folder."""
    inner = [str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in names]
    outside = [
        f"{name} is neither the package nor a file that packaging needs."
        for name in inner
        if not name.startswith("src/backstory/") and name not in TOP_FILES_OF_SDIST
    ]
    return _forbidden(inner) + outside


def _forbidden(names: list[str]) -> list[str]:
    return [
        f"{name} must not be shipped."
        for name in names
        if NEVER_SHIPPED & {part.lower() for part in PurePosixPath(name).parts}
    ]


def copy_of_tree(target: Path) -> Path:
    """Copy all that a build can see, so that a build never writes to the tree."""
    ignore = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "dist", "build")
    return Path(shutil.copytree(ROOT, target / "tree", ignore=ignore))


def build(tree: Path, kind: str) -> Path:
    """Build a `wheel` or an `sdist` of `tree` and return its path."""
    out = tree.parent / f"dist-{tree.name}"
    code = f"import sys, hatchling.build as b; print(b.build_{kind}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(out)], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"The {kind} cannot be built:\n{done.stderr}"
    return out / done.stdout.split()[-1]


def members(archive: Path) -> list[str]:
    """Names of the files in a wheel or an sdist."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [name for name in wheel.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as sdist:
        return [member.name for member in sdist.getmembers() if member.isfile()]


def plant_instructions(tree: Path) -> None:
    for folder in (tree, tree / "src/backstory", tree / "src/backstory/surfaces/cli"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "CLAUDE.md").write_text("Planted.\n", encoding="utf-8")
        (folder / "AGENTS.md").write_text("Planted.\n", encoding="utf-8")
        (folder / ".backstory/log").mkdir(parents=True, exist_ok=True)
        (folder / ".backstory/log/202601-w-b.jsonl").write_text("{}\n", encoding="utf-8")


def test_the_wheel_holds_the_whole_package_and_nothing_else(tmp_path: Path) -> None:
    tree = copy_of_tree(tmp_path)
    names = members(build(tree, "wheel"))
    assert wheel_findings(names) == []
    source = {path.relative_to(tree / "src").as_posix() for path in (tree / "src").rglob("*") if path.is_file()}
    assert {"backstory/errors.py", "backstory/py.typed"} <= source
    assert source <= set(names)
    assert [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]


def test_the_wheel_declares_both_commands(tmp_path: Path) -> None:
    archive = build(copy_of_tree(tmp_path), "wheel")
    with zipfile.ZipFile(archive) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
        text = wheel.read(name).decode()
    parser = ConfigParser()
    parser.read_string(text)
    assert dict(parser["console_scripts"]) == {
        "backstory": "backstory.surfaces.cli.main:main",
        "backstory-hook": "backstory.surfaces.hooks.entry:main",
    }


def test_the_sdist_holds_what_packaging_needs_and_builds_the_same_wheel(tmp_path: Path) -> None:
    tree = copy_of_tree(tmp_path)
    sdist = build(tree, "sdist")
    assert sdist_findings(members(sdist)) == []
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    assert members(build(unpacked, "wheel")) == members(build(tree, "wheel"))


@pytest.mark.parametrize(("kind", "findings"), [("wheel", wheel_findings), ("sdist", sdist_findings)])
def test_a_planted_instruction_file_stays_out_and_would_be_found_if_it_did_not(tmp_path, kind, findings) -> None:
    tree = copy_of_tree(tmp_path)
    plant_instructions(tree)
    assert findings(members(build(tree, kind))) == []

    # The positive control: without the exclusions in the build settings the same files come in.
    config = tree / "pyproject.toml"
    text, count = re.subn(r"(?m)^exclude = \[.*\]$", "", config.read_text(encoding="utf-8"))
    assert count == 1, "The exclusions are no longer where this test looks for them."
    config.write_text(text, encoding="utf-8")
    found = "\n".join(findings(members(build(tree, kind))))
    for name in ("CLAUDE.md", "AGENTS.md", ".backstory/log/202601-w-b.jsonl"):
        assert f"backstory/{name} must not be shipped." in found
        assert f"backstory/surfaces/cli/{name} must not be shipped." in found


def test_a_file_outside_the_package_is_found() -> None:
    assert wheel_findings(["backstory/x.py", "backstory-0.1.0.dist-info/METADATA", "other/x.py"]) == [
        "other/x.py lies outside the package."
    ]
    assert sdist_findings(["backstory-0.1.0/src/backstory/x.py", "backstory-0.1.0/notes.txt"]) == [
        "notes.txt is neither the package nor a file that packaging needs."
    ]
