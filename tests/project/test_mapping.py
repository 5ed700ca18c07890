"""The map of the project: a pure function of the commit and of the manifests in the work tree."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from backstory.project.mapping import manifests
from backstory.project.mapping.answer import Command, EntryPoint, Package, ProjectMap, lines
from backstory.project.mapping.making import FILE, project_map
from backstory.project.refresh import open_project
from backstory.project.setup import init

NOW = 1_780_000_000_000_000


def put(root: Path, files: dict[str, str], commit: bool = True) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if commit:
        for arguments in (["add", "-A"], ["commit", "-q", "-m", "More"]):
            subprocess.run(["git", *arguments], cwd=root, check=True, stdin=subprocess.DEVNULL)


def made(root: Path) -> ProjectMap:
    with open_project(str(root)) as project:
        return project_map(project)


def kept(root: Path) -> Path:
    return root / ".git" / "backstory" / FILE


@pytest.fixture
def root(repo: Path) -> Path:
    init(str(repo), now=NOW)
    return repo


PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "shop"
version = "1.2"
scripts = {shop = "shop.main:run"}
[tool.pytest.ini_options]
"""
FILES: dict[str, str] = {
    "pyproject.toml": PYPROJECT,
    "src/shop/__main__.py": "",
    "web/package.json": json.dumps(
        {"name": "web", "version": "0.1", "bin": {"web": "cli.js"}, "scripts": {"test": "vitest", "dev": "vite"}}
    ),
    "web/pnpm-lock.yaml": "",
    "web/app.ts": "export {}\n" * 10,
    "core/Cargo.toml": '[package]\nname = "core"\nversion = "2.0"\n',
    "core/src/main.rs": "fn main() {}\n",
    "svc/go.mod": "module example.org/svc\n\ngo 1.22\n",
    "svc/cmd/svc/main.go": "package main\n",
    "Makefile": "VERSION := 1\n.PHONY: test\nbuild: x\n\ttrue\ntest lint:\n\ttrue\n%.o: x\nodd:\n",
    "node_modules/x/package.json": '{"name": "of-another"}',
    "node_modules/x/big.js": "x" * 9_000,
}


def test_packages_entry_points_and_commands_are_read_from_every_manifest(root: Path) -> None:
    put(root, FILES)
    found = made(root)
    assert {(package.name, package.ecosystem, package.version) for package in found.packages} == {
        ("shop", "python", "1.2"), ("web", "npm", "0.1"), ("core", "cargo", "2.0"), ("example.org/svc", "go", ""),
    }  # fmt: skip
    assert {(entry.name, entry.target) for entry in found.entry_points} == {
        ("shop", "shop.main:run"), ("web", "web/cli.js"), ("core", "core/src/main.rs"),
        ("cmd/svc", "svc/cmd/svc/main.go"),
        ("python -m shop", "src/shop/__main__.py"),
    }  # fmt: skip
    assert {(command.purpose, command.command, command.folder) for command in found.commands} == {
        ("test", "python -m pytest", ""), ("build", "python -m build", ""), ("test", "pnpm run test", "web"),
        ("run", "pnpm run dev", "web"), ("test", "cargo test", "core"), ("build", "cargo build", "core"),
        ("test", "go test ./...", "svc"), ("build", "go build ./...", "svc"), ("build", "make build", ""),
        ("test", "make test", ""),
    }  # fmt: skip
    assert [command.purpose for command in found.commands][:4] == ["test"] * 4
    assert "of-another" not in str(found.packages)


def test_files_that_a_manifest_names_from_its_own_folder_are_told_from_the_root(root: Path) -> None:
    put(
        root,
        {
            "package.json": '{"name": "top", "bin": "./bin/top.js"}',
            "web/package.json": '{"name": "web", "bin": {"a": "./a.js", "b": 3}, "main": "../shared/index.js"}',
            "core/Cargo.toml": '[package]\nname = "core"\n[[bin]]\nname = "x"\npath = "src/x.rs"\n[[bin]]\nname = "y"',
        },
    )
    assert {(entry.name, entry.target) for entry in made(root).entry_points} == {
        ("top", "bin/top.js"), ("a", "web/a.js"), ("b", ""), ("web", "shared/index.js"), ("x", "core/src/x.rs"),
        ("y", "core/src/bin"),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["clean-test-tmp", "test:clean", "rm-build"])
def test_what_tidies_up_after_tests_is_no_test(name: str) -> None:
    assert manifests.purpose_of(name) == "other"
    assert manifests.purpose_of("unit-test") == "test" and manifests.purpose_of("pre-build") == "build"


def test_languages_are_ranked_by_size_and_what_others_wrote_does_not_count(root: Path) -> None:
    put(root, {**FILES, "notes.md": "# x\n"})
    names = [item.name for item in made(root).languages]
    assert names[0] == "TypeScript" and {"Rust", "Go", "Markdown"} <= set(names) and "JavaScript" not in names
    assert abs(sum(item.share for item in made(root).languages) - 1) < 0.01


def test_the_biggest_folders_are_those_with_the_most_files(root: Path) -> None:
    put(root, {f"big/part{number % 3}/file{number}.txt": "x" for number in range(30)} | {"small/one.txt": "x"})
    found = {folder.path: folder.files for folder in made(root).folders}
    assert found["big"] == 30 and found["big/part0"] == 10 and found["small"] == 1
    put(root, {f"d{number:02}/{name}.txt": "x" for number in range(20) for name in "ab"})
    found = {folder.path: folder.files for folder in made(root).folders}
    assert len(found) == 12 and "big" in found and "small" not in found


def test_the_memory_itself_is_no_part_of_the_map(root: Path) -> None:
    put(root, {".backstory/log/x.jsonl": "{}\n", "a.py": "x"})
    assert ".backstory" not in str(made(root)) and "a.py" not in str(made(root).folders)
    assert made(root).files == len([line for line in tracked(root) if not line.startswith(".backstory")])


def tracked(root: Path) -> list[str]:
    return subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()


def test_what_is_kept_is_used_until_the_commit_or_a_manifest_changes(root: Path) -> None:
    put(root, {"pyproject.toml": PYPROJECT, "a.py": "x = 1\n"})
    first = made(root)
    told = json.loads(kept(root).read_text())
    told["map"]["notes"] = ["from what was kept"]
    kept(root).write_text(json.dumps(told))
    assert made(root).notes == ("from what was kept",)
    # A file that is no manifest and not committed changes nothing.
    put(root, {"b.py": "y = 2\n"}, commit=False)
    assert made(root).notes == ("from what was kept",)
    put(root, {"pyproject.toml": PYPROJECT.replace("shop", "store")}, commit=False)
    assert [package.name for package in made(root).packages] == ["store"] and made(root).notes == ()
    put(root, {"package.json": '{"name": "new"}'}, commit=False)
    assert {package.name for package in made(root).packages} == {"store", "new"}
    (root / "package.json").unlink()
    put(root, {})
    assert made(root).files == first.files + 1


@pytest.mark.parametrize("harm", ["gone", "cut", "other", "empty", "folder"])
def test_a_kept_map_that_is_missing_or_broken_or_cannot_be_kept_is_made_anew(root: Path, harm: str) -> None:
    put(root, FILES)
    first = made(root)
    whole = kept(root).read_bytes()
    if harm == "gone":
        kept(root).unlink()
    elif harm == "folder":
        kept(root).unlink()
        kept(root).mkdir()
    else:
        kept(root).write_bytes({"cut": whole[: len(whole) // 2], "other": b'{"version": 1}', "empty": b""}[harm])
    assert made(root) == first
    if harm != "folder":
        assert kept(root).read_bytes() == whole


def test_a_broken_manifest_is_noted_and_the_rest_is_read(root: Path) -> None:
    put(root, {"pyproject.toml": "name = [", "package.json": '{"name": ', "svc/go.mod": "module a/b\n", "a.py": "x"})
    found = made(root)
    assert [package.name for package in found.packages] == ["a/b"]
    assert sorted(note.split()[0] for note in found.notes) == ["package.json", "pyproject.toml"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", '{"name": 7, "scripts": ["x"], "bin": 3, "main": {}, "version": null}'),
        ("package.json", "[]"),
        ("package.json", '{"a":' * 5_000),
        ("pyproject.toml", 'project = 1\ntool = "x"'),
        ("pyproject.toml", '[project]\nname = ["a"]\nscripts = "x"'),
        ("Cargo.toml", 'package = "x"\nbin = "y"'),
        ("composer.json", '"text"'),
        ("pom.xml", "<artifactId>"),
        ("go.mod", ""),
        ("Makefile", "\0\0:\n" * 100),
    ],
)
def test_a_manifest_of_another_shape_is_no_fault(root: Path, name: str, text: str) -> None:
    put(root, {name: text, "ok/go.mod": "module a/b\n"})
    assert "a/b" in [package.name for package in made(root).packages]


def test_a_manifest_behind_a_link_or_too_large_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text('{"name": "outside"}')
    put(root, {"big/package.json": json.dumps({"name": "large", "x": "y" * manifests.MAX_BYTES})})
    (root / "package.json").symlink_to(tmp_path / "outside.json")
    assert made(root).packages == ()
    (root / "package.json").unlink()
    put(root, {"package.json": '{"name": "inside"}'})
    assert [package.name for package in made(root).packages] == ["inside"]


def test_without_git_or_a_commit_the_folder_is_counted_and_nothing_kept(tmp_path: Path) -> None:
    for name, git in (("plain", False), ("unborn", True)):
        folder = tmp_path / name
        put(folder, {"a.py": "x", "node_modules/b.js": "x", ".hidden/c.py": "x"}, commit=False)
        if git:
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        init(str(folder), now=NOW)
        found = made(folder)
        assert (found.files, found.head) == (1, "") and any("no commit" in note for note in found.notes)
        assert not kept(folder).exists()
        put(folder, {"b.py": "x"}, commit=False)
        assert made(folder).files == 2


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("pom.xml", "<parent><artifactId>up</artifactId></parent><artifactId>shop</artifactId><version>3</version>",
         Package("shop", "maven", "pom.xml", "3")),
        ("build.gradle.kts", "", Command("test", "gradle test", "build.gradle.kts")),
        ("composer.json", '{"name": "a/b", "scripts": {"test": "x", "odd": "y"}}',
         Command("test", "composer run test", "composer.json")),
        ("CMakeLists.txt", "project(shop CXX)\nenable_testing()",
         Command("test", "ctest --test-dir build", "CMakeLists.txt")),
        ("mix.exs", "def project do [app: :shop] end", Package("shop", "mix", "mix.exs")),
        ("App/App.csproj", "<Project/>", Package("App", "dotnet", "App/App.csproj")),
        ("justfile", "test *args:\n  x\n", Command("test", "just test", "justfile")),
        ("tox.ini", "", Command("test", "tox", "tox.ini")),
        ("setup.py", "from setuptools import setup", Command("build", "python -m build", "setup.py")),
        ("pyproject.toml", '[tool.poetry]\nname = "old"\nscripts = {old = "old:main"}',
         EntryPoint("old", "old:main", "pyproject.toml")),
    ],
)  # fmt: skip
def test_each_kind_of_manifest_is_understood(path: str, text: str, expected: object) -> None:
    reads = manifests.reader(path)
    assert reads is not None
    assert expected in list(reads(manifests.Place(path, path.rpartition("/")[0], text, [path])))


def test_a_module_that_is_called_setup_is_no_manifest() -> None:
    reads = manifests.reader("src/setup.py")
    assert reads is not None
    assert list(reads(manifests.Place("src/setup.py", "src", "def setup():\n    import os\n", []))) == []
    assert manifests.reader("src/other.py") is None


def test_the_lines_say_all_that_the_map_holds(root: Path) -> None:
    put(root, FILES)
    text = "\n".join(lines(made(root)))
    for part in (
        "shop 1.2 (python",
        "pnpm run dev in web",
        "TypeScript",
        "folder: web/, 3 files",
        "leads to web/cli.js",
    ):
        assert part in text
    assert os.sep != "\\" or "\\" not in text
