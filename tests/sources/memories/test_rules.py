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


def test_short_words_are_no_rule_and_four_characters_of_japanese_are_one(tmp_path: Path) -> None:
    put(tmp_path, {"AGENTS.md": "- short\n- 嘘をつくな\n"})
    assert [item.fields["summary"] for item in told(rules.read(str(tmp_path / "AGENTS.md"))).items] == ["嘘をつくな"]
