"""One table of a TOML file, set and taken out; what cannot be edited safely is refused."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.errors import BackstoryError
from backstory.project.merging import toml_table
from backstory.project.merging.file_text import FileText, unpacked

PATH = ("mcp_servers", "backstory")
VALUES = {"command": "/opt/My Tools (x)/it's\\backstory", "args": ["mcp", 'say "hi"']}


def file(text: str) -> FileText:
    return unpacked(text.encode(), "config.toml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x"',
        "# only a comment\n",
        '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # yes\n  "d",\n]\n\n[mcp_servers.docs.env]\nA = "b"\n',
        'text = """\n[mcp_servers.backstory]\ncommand = 1\n"""\n',
        "text = '''\n[mcp_servers.backstory]\n\"\"\"'''\n[other]\na = 1\n",
        'a = 1\r\n[projects."/abs (x)"]\r\ntrust_level = "trusted"\r\n',
        "[[list]]\na = 1\n[[list]]\na = 2\n",
        "mcp_servers.docs.command = 'npx'\n",
    ],
)
def test_a_table_put_in_and_taken_out_leaves_the_text_as_it_was(text: str) -> None:
    made = toml_table.put(file(text), PATH, VALUES)
    assert tomllib.loads(made)["mcp_servers"]["backstory"] == VALUES
    assert made.startswith(text)
    assert toml_table.put(file(made), PATH, VALUES) == made
    assert toml_table.drop(file(made), PATH).rstrip() == text.rstrip()
    assert ("\r\n" in text) == ("\r\n" in made)


def test_keys_that_a_person_added_stay_and_only_ours_are_set_anew() -> None:
    text = (
        "[mcp_servers.backstory] # mine\n"
        'command = "old"\n'
        "startup_timeout_sec = 20\n"
        'args = [\n  "x", # old\n]\n'
        "\n[mcp_servers.backstory.env]\nA = 'b'\n"
        "\n# about the next\n[next]\na = 1\n"
    )
    made = toml_table.put(file(text), PATH, VALUES)
    said = tomllib.loads(made)["mcp_servers"]["backstory"]
    assert said == {**VALUES, "startup_timeout_sec": 20, "env": {"A": "b"}}
    assert "# mine" in made and "# about the next\n[next]\n" in made
    left = toml_table.drop(file(made), PATH)
    assert tomllib.loads(left) == {"next": {"a": 1}} and "# about the next\n[next]" in left


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { docs = { command = 'npx' } }\n",
        "[mcp_servers]\nbackstory = { command = 'old', args = [] }\n",
        "mcp_servers.backstory.command = 'old'\n",
        "mcp_servers = 3\n",
        # The line that looks like the key lies in a text.
        '[mcp_servers.backstory]\nnote = """\ncommand = "x"\n"""\n',
    ],
)
def test_a_form_that_is_not_edited_is_refused_and_named(text: str) -> None:
    with pytest.raises(BackstoryError, match=r"config\.toml writes mcp_servers\.backstory in a form"):
        toml_table.put(file(text), PATH, VALUES)


def test_what_is_no_toml_is_refused_with_its_line_and_its_twin_is_not() -> None:
    with pytest.raises(BackstoryError, match=r"config\.toml: line 2 is no TOML"):
        toml_table.put(file("a = 1\nb = \n"), PATH, VALUES)
    assert toml_table.put(file("a = 1\nb = 2\n"), PATH, VALUES)


@given(st.text(max_size=40).filter(lambda text: max(text, default="a") < "\ud800" or text.isprintable()))
def test_any_command_is_read_back_as_it_was(command: str) -> None:
    values = {"command": command, "args": [command]}
    made = toml_table.put(FileText("", "config.toml"), PATH, values)
    assert tomllib.loads(made)["mcp_servers"]["backstory"] == values
