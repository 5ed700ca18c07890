"""The shape of the package: small modules, short functions, no cycles, no module without a subject.

Each rule is a function from a package folder to a list of findings. It is run over the real package, and
over a small planted tree that breaks it, so that the rule is known to be able to fail.
"""

import ast
import math
import statistics
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "backstory"
MODULE_LINES, MODULE_LINES_MEDIAN = 400, 150
FUNCTION_LINES, FUNCTION_LINES_P90 = 50, 30
NAMES_WITHOUT_SUBJECT = {"utils", "util", "helpers", "helper", "misc", "common"}


def modules(package: Path) -> dict[str, Path]:
    """Dotted name and path of every module below `package`, the package itself included."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    assert found, f"{package} holds no module, so no rule can be judged."
    return found


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def long_modules(package: Path) -> list[str]:
    """Modules over the limit, and the median; `__init__` files without code do not lower the median."""
    lines, counted = {}, []
    for name, path in modules(package).items():
        lines[name] = len(path.read_text(encoding="utf-8").splitlines())
        if path.name != "__init__.py" or len(parse(path).body) > 1:
            counted.append(lines[name])
    findings = [
        f"{name} has {count} lines; at most {MODULE_LINES} are allowed."
        for name, count in lines.items()
        if count > MODULE_LINES
    ]
    median = statistics.median(counted) if counted else 0
    if median > MODULE_LINES_MEDIAN:
        findings.append(f"The median module has {median:g} lines; at most {MODULE_LINES_MEDIAN} are allowed.")
    return findings


def long_functions(package: Path) -> list[str]:
    """Functions over the limit, and the 90th percentile; a docstring counts, a decorator does not."""
    lengths, findings = [], []
    for name, path in modules(package).items():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = node.end_lineno - node.lineno + 1
                lengths.append(count)
                if count > FUNCTION_LINES:
                    findings.append(
                        f"{name}:{node.lineno} {node.name} has {count} lines; at most {FUNCTION_LINES} are allowed."
                    )
    p90 = sorted(lengths)[math.ceil(0.9 * len(lengths)) - 1] if lengths else 0
    if p90 > FUNCTION_LINES_P90:
        findings.append(f"One function in ten has {p90} lines or more; at most {FUNCTION_LINES_P90} are allowed.")
    return findings


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def run_at_import(nodes: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when the module is imported: not in functions, not under TYPE_CHECKING."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from run_at_import(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                yield from run_at_import(getattr(node, field, []))
            for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
                yield from run_at_import(part.body)


def targets(node: ast.Import | ast.ImportFrom, module: str, is_package: bool) -> Iterator[str]:
    """Dotted names that the import may load; `from a import b` gives `a.b` and `a`, longest first."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
        return
    base = node.module or ""
    if node.level:
        up = module.split(".")
        up = up[: len(up) - node.level + (1 if is_package else 0)]
        base = ".".join([*up, *([base] if base else [])])
    for alias in node.names:
        yield f"{base}.{alias.name}"
    yield base


def import_cycles(package: Path) -> list[str]:
    """A cycle of imports that run at import time, if there is one.

    `from a import b` depends on `a.b` where that is a module, and on `a` only where a name comes from it:
    otherwise each `__init__` that gathers its modules would seem to be in a cycle with them.
    """
    known = modules(package)
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        edges = graph.setdefault(name, set())
        for node in run_at_import(parse(path).body):
            loaded = list(targets(node, name, path.name == "__init__.py"))
            if isinstance(node, ast.ImportFrom):
                base = loaded.pop()
                loaded = [target if target in known else base for target in loaded]
            edges.update(target for target in loaded if target in known and target != name)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["Import cycle: " + " <- ".join(error.args[1])]
    return []


def modules_without_subject(package: Path) -> list[str]:
    return [
        f"{name} says nothing about its subject; name it for what it is about."
        for name in modules(package)
        if NAMES_WITHOUT_SUBJECT & {part.strip("_") for part in name.split(".")}
    ]


def plant(root: Path, files: dict[str, str]) -> Path:
    package = root / "planted"
    for name, text in {"__init__.py": '"""Planted."""\n', **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return package


def function_of(lines: int, name: str = "f") -> str:
    return f"def {name}():\n" + "    pass\n" * (lines - 1)


def test_modules_are_small() -> None:
    assert long_modules(PACKAGE) == []


def test_functions_are_short() -> None:
    assert long_functions(PACKAGE) == []


def test_imports_have_no_cycle() -> None:
    assert import_cycles(PACKAGE) == []


def test_every_module_names_its_subject() -> None:
    assert modules_without_subject(PACKAGE) == []


def test_a_module_over_the_limit_is_found_and_one_at_the_limit_is_not(tmp_path: Path) -> None:
    small = {f"small{n}.py": "x = 1\n" for n in range(3)}
    package = plant(tmp_path, {**small, "at.py": "x = 1\n" * 400, "over.py": "x = 1\n" * 401})
    assert long_modules(package) == ["planted.over has 401 lines; at most 400 are allowed."]


def test_a_high_median_of_modules_is_found_in_spite_of_empty_init_files(tmp_path: Path) -> None:
    empty = {f"p{n}/__init__.py": "" for n in range(9)}
    package = plant(tmp_path, {**empty, "a.py": "x = 1\n" * 151, "b.py": "x = 1\n" * 152, "c.py": ""})
    assert long_modules(package) == ["The median module has 151 lines; at most 150 are allowed."]


def test_a_function_over_the_limit_is_found_wherever_it_is(tmp_path: Path) -> None:
    short = "".join(function_of(2, f"short{n}") for n in range(40))
    nested = "class C:\n" + "".join(f"    {line}\n" for line in function_of(51, "long").splitlines())
    package = plant(tmp_path, {"a.py": short + function_of(50, "at"), "b.py": nested})
    assert long_functions(package) == ["planted.b:2 long has 51 lines; at most 50 are allowed."]


def test_a_high_ninetieth_percentile_of_functions_is_found(tmp_path: Path) -> None:
    code = "".join(function_of(2, f"short{n}") for n in range(8))
    package = plant(tmp_path, {"a.py": code + function_of(31, "g") + function_of(30, "h")})
    assert long_functions(package) == []
    package = plant(tmp_path, {"a.py": code + function_of(31, "g") + function_of(31, "h")})
    assert long_functions(package) == ["One function in ten has 31 lines or more; at most 30 are allowed."]


def test_a_cycle_is_found_through_every_form_of_import(tmp_path: Path) -> None:
    forms = [
        "import planted.a\n",
        "from planted import a\n",
        "from planted.a import f\n",
        "from . import a\n",
        "from .a import f\n",
        "try:\n    from .a import f\nexcept ImportError:\n    pass\n",
        "try:\n    x = 1\nexcept ImportError:\n    from .a import f\n",
        "class C:\n    from .a import f\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    x = 1\nelse:\n    from .a import f\n",
    ]
    for number, form in enumerate(forms):
        package = plant(tmp_path / str(number), {"a.py": "from planted.b import g\n", "b.py": form})
        assert len(import_cycles(package)) == 1, form


def test_a_cycle_through_an_init_file_is_found(tmp_path: Path) -> None:
    package = plant(tmp_path, {"p/__init__.py": "from .m import f\n", "p/m.py": "from planted.p import g\n"})
    assert len(import_cycles(package)) == 1


def test_imports_that_do_not_run_at_import_time_make_no_cycle(tmp_path: Path) -> None:
    harmless = [
        "def f():\n    from planted import a\n",
        "import typing\nif typing.TYPE_CHECKING:\n    from planted import a\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f\n",
    ]
    for number, form in enumerate(harmless):
        package = plant(tmp_path / str(number), {"a.py": "from planted.b import g\n", "b.py": form})
        assert import_cycles(package) == [], form


def test_an_init_file_may_gather_its_modules(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from .m import f\nfrom .n import g\n",
        "p/m.py": "from . import n\n",
        "p/n.py": "",
    }
    assert import_cycles(plant(tmp_path, files)) == []


def test_a_module_without_subject_is_found_in_any_folder(tmp_path: Path) -> None:
    package = plant(tmp_path, {"utils.py": "", "p/_helpers.py": "", "common/x.py": "", "commons.py": ""})
    assert [finding.split(" ")[0] for finding in modules_without_subject(package)] == [
        "planted.common.x",
        "planted.p._helpers",
        "planted.utils",
    ]
