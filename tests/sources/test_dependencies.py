"""Dependencies as each ecosystem writes them, and versions compared by its own rules."""

from pathlib import Path

import pytest

from backstory.sources.dependencies.contract import Told
from backstory.sources.dependencies.reading import applies, joined, read, reader, wanted
from backstory.sources.dependencies.versions import matches
from backstory.sources.skipped import Skipped

# File, its text, a library in versions that it has, the same in versions that it has not.
FILES = (
    (
        "pyproject.toml",
        "[project]\ndependencies = [\"Pydantic_Core[x]>=2.5; python_version > '3'\"]",
        "pydantic-core@>=2",
        "pydantic-core@<2",
    ),
    ("pyproject.toml", '[dependency-groups]\ntest = ["pytest~=8.1", {include-group = "x"}]', "pytest@8", "pytest@9"),
    (
        "pyproject.toml",
        '[tool.poetry.group.dev.dependencies]\nhttpx = {version = "^0.27"}',
        "httpx@0.27",
        "httpx@>=0.28",
    ),
    ("requirements-dev.txt", "-r other.txt\nDjango==4.2.1 --hash=sha256:aa  # pinned\n", "django@~=4.2", "django@5"),
    ("requirements/base.txt", "flask<3\n", "flask@>=2", "flask@>=3"),
    ("Pipfile", '[packages]\nrequests = "*"\n[dev-packages]\nblack = "==24.1"', "black@24", "black@23"),
    (
        "package.json",
        '{"dependencies": {"react": "^18.2.0"}, "devDependencies": {"@types/node": "20.x"}}',
        "react@18",
        "react@>=19",
    ),
    (
        "package.json",
        '{"dependencies": {"@types/node": "20.x", "my": "npm:@real/name@~1.2"}}',
        "npm:@real/name@1.2",
        "npm:@real/name@1.3",
    ),
    (
        "Cargo.toml",
        '[dependencies]\nserde = { version = "1.0.150" }\n[workspace.dependencies]\nrand="0.8"',
        "cargo:rand@0.8.5",
        "rand@0.9",
    ),
    (
        "go.mod",
        "module x\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.9.1\n)\n",
        "github.com/gin-gonic/gin@>=1.9",
        "github.com/gin-gonic/gin@>=1.10",
    ),
    ("Gemfile", "source 'x'\ngem 'rails', '~> 7.1', '>= 7.1.2'\n", "rails@7", "rails@~> 8.0"),
    (
        "pom.xml",
        "<project><properties><j.v>2.15.2</j.v></properties><dependencies><dependency><groupId>a.b</groupId>"
        "<artifactId>c</artifactId><version>${j.v}</version></dependency></dependencies></project>",
        "a.b:c@[2.15,3)",
        "maven:a.b:c@[3,)",
    ),
    ("app/build.gradle.kts", 'dependencies {\n    implementation("com.x:y:1.4.+")\n}', "com.x:y@1.4", "com.x:y@1.5"),
    (
        "gradle/libs.versions.toml",
        '[versions]\nk = "2.0.1"\n[libraries]\nc = { module = "o.k:c", version.ref = "k" }',
        "o.k:c@2",
        "o.k:c@<2",
    ),
    (
        "composer.json",
        '{"require": {"php": ">=8", "symfony/console": "^6.3|^7.0"}}',
        "symfony/console@7",
        "symfony/console@8",
    ),
    ("mix.exs", 'defp deps do\n [{:phoenix, "~> 1.7.10"}, {:ecto, ">= 3.0.0"}]\nend\n', "phoenix@1.7", "phoenix@1.8"),
    (
        "src/App.csproj",
        '<ItemGroup><PackageReference Include="Newtonsoft.Json" Version="13.0.3" /></ItemGroup>',
        "newtonsoft.json@13",
        "newtonsoft.json@12",
    ),
    ("packages.config", '<packages><package id="NUnit" version="3.14.0" /></packages>', "nunit@[3,4)", "nunit@[4,)"),
    (
        "Dockerfile",
        "FROM --platform=x docker.io/library/postgres:16-alpine AS db\nFROM db\n",
        "postgres@16",
        "postgres@15",
    ),
    (
        ".github/workflows/ci.yml",
        "steps:\n  - uses: actions/checkout@v4\n",
        "actions/checkout@v4",
        "actions/checkout@v3",
    ),
)

LOCKED = (
    (
        "pyproject.toml",
        '[project]\ndependencies = ["pydantic"]',
        "poetry.lock",
        '[[package]]\nname = "pydantic"\nversion = "1.10.2"',
        "pydantic@1",
    ),
    (
        "pyproject.toml",
        '[project]\ndependencies = ["pydantic"]',
        "uv.lock",
        '[[package]]\nname = "pydantic"\nversion = "1.10.2"',
        "pydantic@1",
    ),
    (
        "Pipfile",
        '[packages]\npydantic = "*"',
        "Pipfile.lock",
        '{"default": {"pydantic": {"version": "==1.10.2"}}}',
        "pydantic@1",
    ),
    (
        "package.json",
        '{"dependencies": {"a": "*"}}',
        "package-lock.json",
        '{"packages": {"node_modules/a": {"version": "1.2.3"}}}',
        "a@1",
    ),
    ("package.json", '{"dependencies": {"@s/a": "*"}}', "yarn.lock", '"@s/a@*":\n  version "1.2.3"\n', "@s/a@1"),
    (
        "package.json",
        '{"dependencies": {"@s/a": "*"}}',
        "pnpm-lock.yaml",
        "packages:\n  '@s/a@1.2.3(x@2)':\n    resolution: {}\n",
        "@s/a@1",
    ),
    (
        "Cargo.toml",
        '[dependencies]\nserde = "*"',
        "Cargo.lock",
        '[[package]]\nname = "serde"\nversion = "1.0.1"',
        "serde@1",
    ),
    ("Gemfile", "gem 'rails'\n", "Gemfile.lock", "GEM\n  specs:\n    rails (1.2.3)\n      x (>= 1)\n", "rails@1"),
    (
        "composer.json",
        '{"require": {"a/b": "*"}}',
        "composer.lock",
        '{"packages": [{"name": "a/b", "version": "v1.4.0"}]}',
        "a/b@1",
    ),
    (
        "mix.exs",
        'defp deps do\n [{:ecto, ">= 0.0.0"}]\nend\n',
        "mix.lock",
        '"ecto": {:hex, :ecto, "1.2.3", "aa"},',
        "ecto@1",
    ),
    ("build.gradle", "implementation 'a.b:c'\n", "gradle.lockfile", "a.b:c:1.5=compileClasspath\n", "a.b:c@1"),
)

RANGES = (
    ("pypi", ">=2", "", "2.0.1", True),
    ("pypi", ">=2", "", "2.0rc1", False),
    ("pypi", "!=1.5", "", "1.4", True),
    ("pypi", "~=1.4", "^1.9", "", True),
    ("pypi", "==2.*", "<2", "", False),
    ("pypi", ">=2", "git+https://x", "", True),
    ("npm", "^0.2.3", "", "0.3.0", False),
    ("npm", "~1.2", "1.2 - 1.4", "", True),
    ("npm", ">=18", "", "18.0.0-rc.1", False),
    ("npm", "^18", "^17 || 16.x", "", False),
    ("npm", ">=2", "latest", "", True),
    ("npm", "2", "2.x.x", "", True),
    ("cargo", ">=1.5", "1.2", "", True),
    ("cargo", ">=2", "1.2", "", False),
    ("cargo", "0.3", "0.2", "", False),
    ("gem", "~> 7.1", "", "7.2.0", True),
    ("gem", "~> 7.1.0", "", "7.2.0", False),
    ("gem", "<7.1.0", "", "7.1.0.beta1", False),
    ("maven", "[2,3)", "", "3.0-alpha-1", True),
    ("maven", "(,2]", "", "2.0.Final", True),
    ("maven", "(,31.1]", "", "31.1-jre", False),
    ("composer", "~1.2", "1.9.*", "", True),
    ("composer", "~1.2.3", "1.9.*", "", False),
    ("go", ">=1.9", "", "v1.9.1", True),
    ("docker", "16", "", "16-alpine", True),
    ("docker", ">=16", "", "15.3", False),
    ("nuget", "[13,14)", "13.0.*", "", True),
    ("hex", "~> 1.7 or ~> 2.0", "2.1.0", "", True),
    ("npm", ">2 <1", "1.5.0", "", False),
)


def told(root: Path, **files: str) -> list[Told | Skipped]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return list(read(str(root), files))


def found(root: Path, files: dict[str, str], library: str) -> bool:
    return applies(library, joined(item for item in told(root, **files) if isinstance(item, Told)))


@pytest.mark.parametrize(("name", "text", "has", "lacks"), FILES, ids=lambda value: str(value)[:24])
def test_each_manifest_tells_its_libraries_with_their_versions(
    tmp_path: Path, name: str, text: str, has: str, lacks: str
) -> None:
    assert found(tmp_path, {name: text}, has)
    assert not found(tmp_path, {name: text}, lacks)
    assert not found(tmp_path, {name: text}, "leftpad")


@pytest.mark.parametrize(("name", "text", "lock", "locked", "library"), LOCKED, ids=lambda value: str(value)[:18])
def test_a_lock_file_fixes_the_version_of_what_is_declared_and_declares_nothing(
    tmp_path: Path, name: str, text: str, lock: str, locked: str, library: str
) -> None:
    plain, _, version = library.rpartition("@")
    assert found(tmp_path, {name: text, lock: locked}, library)
    assert not found(tmp_path, {name: text, lock: locked}, f"{plain}@{int(version) + 1}")
    assert found(tmp_path, {name: text}, f"{plain}@{int(version) + 1}")
    assert not joined(item for item in told(tmp_path, **{lock: locked}) if isinstance(item, Told))


@pytest.mark.parametrize(("ecosystem", "asked", "declared", "locked", "expected"), RANGES)
def test_versions_are_compared_by_the_rules_of_their_ecosystem(
    ecosystem: str, asked: str, declared: str, locked: str, expected: bool
) -> None:
    assert matches(ecosystem, asked, locked=[locked] if locked else [], declared=[declared]) is expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("pydantic@>=2", ("", "pydantic", ">=2")),
        ("npm:@types/node@^20", ("npm", "@types/node", "^20")),
        ("pydantic>=2,<3", ("", "pydantic", ">=2,<3")),
        ("react", ("", "react", "")),
        ("a.b:c@[1,2)", ("", "a.b:c", "[1,2)")),
        ("@s/x", ("", "@s/x", "")),
    ],
)
def test_a_library_of_a_lesson_is_taken_apart(text: str, parts: tuple[str, str, str]) -> None:
    assert tuple(wanted(text)) == parts


def test_a_manifest_that_cannot_be_read_is_named_and_hides_no_other(tmp_path: Path) -> None:
    found = told(tmp_path, **{"pyproject.toml": "[project", "package.json": "[1, {", "Gemfile": "gem 'rails'\n"})
    assert [item.file for item in found if isinstance(item, Skipped)] == ["pyproject.toml", "package.json"]
    assert [item.name for item in found if isinstance(item, Told)] == ["rails"]


def test_a_manifest_is_not_read_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("flask\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "requirements.txt").symlink_to(outside)
    assert not list(read(str(tmp_path / "in"), ["requirements.txt"]))
    assert reader("notes.txt") is None
