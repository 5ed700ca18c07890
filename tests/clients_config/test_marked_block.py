"""The instruction block: between its marks, once, and every command in it is one that runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.errors import BackstoryError
from backstory.project.agent_rule import TEXT
from backstory.project.clients.shapes import Block
from backstory.project.merging import marked_block
from backstory.project.merging.file_text import FileText, unpacked
from tests.project.test_agent_rule import COMMANDS

from .conftest import commands


def file(text: str) -> FileText:
    return unpacked(text.encode(), "AGENTS.md")


@pytest.mark.parametrize("text", ["", "# Shop\n", "# Shop", "# Shop\n\n\n", "\r\n# Shop\r\nTabs.\r\n", "\n"])
def test_a_block_put_in_and_taken_out_leaves_the_text(text: str) -> None:
    made = marked_block.put(file(text), "One\nTwo\n")
    assert made.startswith(text) and made.count(marked_block.BEGIN) == 1
    assert ("\r\n" in text) == ("\r\n" in made) and "\n\n\n\n" not in made.replace(text, "")
    assert marked_block.put(file(made), "One\nTwo\n") == made
    assert marked_block.drop(file(made)).rstrip("\r\n") == text.rstrip("\r\n")


def test_an_older_block_is_replaced_where_it_stands() -> None:
    old = f"Before.\n\n{marked_block.BEGIN}\nold\n{marked_block.END}\n\nAfter.\n"
    assert marked_block.put(file(old), "new") == old.replace("old", "new")
    assert marked_block.drop(file(old)) == "Before.\n\nAfter.\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{marked_block.BEGIN}\nopen\n",
        f"{marked_block.END}\n{marked_block.BEGIN}\n",
        f"{marked_block.BEGIN}\na\n{marked_block.END}\n" * 2,
    ],
)
def test_marks_that_are_no_pair_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(BackstoryError, match=r"AGENTS\.md: line 2 has a mark of ours"):
        marked_block.put(file(f"\n{text}"), "new")


def test_marks_inside_a_line_are_prose() -> None:
    text = f"The block stands between `{marked_block.BEGIN}` and `{marked_block.END}`.\n"
    assert marked_block.drop(file(text)) == text
    assert marked_block.put(file(text), "new").startswith(text)


@given(st.text("ab\n\r <!->", max_size=60))
def test_any_text_gets_back_all_but_the_blank_line_at_its_end(text: str) -> None:
    made = marked_block.put(FileText(text, "any.md"), "One")
    assert made.startswith(text)
    assert marked_block.drop(FileText(made, "any.md")).rstrip("\r\n") == text.rstrip("\r\n")


def test_what_is_written_is_the_rule_whose_every_command_another_test_runs() -> None:
    text = Block().put(file("# Shop\n"), commands(True))
    assert TEXT.strip() in text
    assert len(COMMANDS) >= 6 and all(f"`{command}`" in text for command in COMMANDS)
