"""Whether a file uses a library: an import line of each language, manifests and lock files, and what only looks so."""

from pathlib import Path

import pytest

from backstory.sources.dependencies import usage
from backstory.sources.dependencies.usage import Usage


def uses(root: Path, path: str, text: str, library: str) -> bool:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text, encoding="utf-8")
    return Usage(str(root), path).library(library)


@pytest.mark.parametrize(
    ("path", "text", "library"),
    [
        ("a.py", "import pydantic\n", "pydantic@>=2"),
        ("a.py", "import os, pydantic as p\n", "pydantic"),
        ("a.py", "    from pydantic.fields import Field\n", "pypi:Pydantic"),
        ("a.py", "import yaml\n", "PyYAML"),
        ("a.py", "from PIL import Image\n", "pillow"),
        ("a.py", "from google.cloud.storage import Client\n", "google-cloud-storage"),
        ("a.py", "from typing_extensions import Self\n", "typing-extensions"),
        ("a.py", "from rest_framework import views\n", "djangorestframework"),
        ("a.ts", "import { useState } from 'react'\n", "npm:react@^18"),
        ("a.tsx", 'import x from "@scope/pkg/deep"\n', "@scope/pkg"),
        ("a.cjs", "const a = require('lodash/fp')\n", "lodash"),
        ("a.js", "const m = await import('react-dom/client')\n", "react-dom"),
        ("a.js", "import 'core-js'\n", "core-js"),
        ("a.rs", "use serde_json::Value;\n", "serde-json"),
        ("a.rs", "let a = tokio::spawn(x);\n", "cargo:tokio"),
        ("a.go", 'import (\n\t"fmt"\n\tr "github.com/go-redis/redis/v9"\n)\n', "github.com/go-redis/redis"),
        ("a.rb", "require 'active_support/core_ext'\n", "gem:active_support"),
        ("A.java", "import com.fasterxml.jackson.databind.ObjectMapper;\n",
         "com.fasterxml.jackson.core:jackson-databind"),
        ("A.kt", "import org.junit.jupiter.api.Test\n", "org.junit.jupiter:junit-jupiter-api"),
        ("a.php", "<?php\nuse Monolog\\Logger;\n", "monolog/monolog"),
        ("a.ex", "defmodule A do\n  use Phoenix.LiveView\nend\n", "hex:phoenix_live_view"),
        ("A.cs", "using Newtonsoft.Json.Linq;\n", "Newtonsoft.Json"),
        ("pyproject.toml", '[project]\nname="x"\nversion="1"\ndependencies=["Pydantic>=2"]\n', "pydantic"),
        ("web/package.json", '{"dependencies": {"react": "^18"}}', "npm:react"),
        ("requirements.txt", "pydantic==2.7.1\n", "pydantic@2"),
        ("uv.lock", '[[package]]\nname = "pydantic"\nversion = "2.7.1"\n', "pydantic"),
    ],
)  # fmt: skip
def test_an_import_line_or_a_declaration_is_a_use(tmp_path: Path, path: str, text: str, library: str) -> None:
    assert uses(tmp_path, path, text, library)
    # The control: the same file uses no other library.
    assert not Usage(str(tmp_path), path).library("entirely-other")


@pytest.mark.parametrize(
    ("path", "text", "library"),
    [
        ("a.py", "# import pydantic later\n", "pydantic"),
        ("a.py", "import pydantic_settings\n", "pydantic"),
        ("a.py", "from requests_mock import x\n", "requests"),
        ("a.py", "from .pydantic import x\n", "pydantic"),
        ("a.py", "import pydantic\n", "npm:pydantic"),
        ("a.js", "import x from 'react-dom'\n", "react"),
        ("a.js", "import x from './react'\n", "react"),
        ("a.go", 'x := "github.com/go-redis/redis is fine"\n', "github.com/go-redis/redis"),
        ("a.rs", "// tokio is not used\n", "tokio"),
        ("a.md", "import pydantic\n", "pydantic"),
        ("notes", "import pydantic\n", "pydantic"),
        ("pyproject.toml", '[project]\nname="pydantic"\nversion="1"\n', "pydantic"),
        ("a.py", "", ""),
    ],
)
def test_what_only_looks_like_a_use_is_none(tmp_path: Path, path: str, text: str, library: str) -> None:
    assert not uses(tmp_path, path, text, library)


def test_the_well_known_other_names_lead_only_to_themselves(tmp_path: Path) -> None:
    for name, imported in usage._OTHER_NAMES.items():
        assert uses(tmp_path, "a.py", f"import {imported}\n", name), name
        assert not uses(tmp_path, "a.py", "import os\n", name), name


def test_a_link_a_folder_and_what_is_gone_use_nothing(tmp_path: Path) -> None:
    (tmp_path / "away.py").write_text("import pydantic\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link.py").symlink_to(tmp_path / "away.py")
    (root / "folder.py").mkdir()
    assert not any(Usage(str(root), path).library("pydantic") for path in ("link.py", "folder.py", "gone.py"))
    assert Usage(str(tmp_path), "away.py").library("pydantic")


def test_the_cost_is_bounded_by_the_first_bytes(tmp_path: Path) -> None:
    filler = "x = 1\n" * (usage.MAX_BYTES // 6 + 1)
    assert not uses(tmp_path, "a.py", filler + "import pydantic\n", "pydantic")
    assert uses(tmp_path, "a.py", "import pydantic\n" + filler, "pydantic")
