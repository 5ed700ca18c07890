"""Rules for agents: a file without any says so."""

from pathlib import Path

from backstory.sources.memories import rules
from tests.sources.memories.told import put, told


def test_a_file_without_rules_is_said_and_one_with_a_rule_is_read(tmp_path: Path) -> None:
    put(tmp_path, {"AGENTS.md": "# About\n\nOnly prose here.\n", "CLAUDE.md": "- Run the checks before a commit\n"})
    empty = told(rules.read(str(tmp_path / "AGENTS.md")))
    assert ([one.why for one in empty.skipped], empty.items) == (
        ["no list item in it outside of code and of our own block"], [],
    )  # fmt: skip
    assert told(rules.read(str(tmp_path / "CLAUDE.md"))).kinds() == {"pattern": 1}
