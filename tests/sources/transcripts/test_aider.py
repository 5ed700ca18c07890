"""Aider: who speaks in its history, which blocks are edits, and what is known of how they ended."""

from pathlib import Path
from typing import Any

from backstory.sources.transcripts import aider
from backstory.sources.transcripts.stream import AssistantText, Call, Edit, Facts, Interrupt, Rejection, Result
from tests.sources.transcripts.other_clients import injected, of, read, typed

HEAD = (
    "\n# aider chat started at 2026-03-01 10:00:00\n\n> Aider v0.86.1  \n> Main model: gpt-5 with diff edit format  \n"
)
BLOCK = "a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n"


def history(tmp_path: Path, body: str) -> list[Any]:
    path = tmp_path / aider.NAME
    path.write_text(HEAD + body, encoding="utf-8")
    return read("aider", path)


def test_a_session_tells_its_facts_and_works_in_the_folder_of_its_file(tmp_path: Path) -> None:
    items = history(tmp_path, "\n#### Fix it.  \n#### And test.  \n\nI fix it.\n\n> Tokens: 1k sent, 20 received.  \n")
    started, version, model = of(items, Facts)
    assert (started.session, started.cwd) == ("2026-03-01 10:00:00", str(tmp_path))
    assert (version.version, model.model) == ("0.86.1", "gpt-5")
    assert started.at is not None and started.offset == 1
    assert typed(items) == ["Fix it.  \nAnd test."]
    assert [item.text for item in of(items, AssistantText)] == ["I fix it."]


def test_a_block_is_an_edit_and_done_only_when_aider_says_so(tmp_path: Path) -> None:
    done = history(tmp_path, f"\n{BLOCK}\n> Applied edit to a.py  \n> Commit abc1234 fix: x  \n")
    assert [(item.path, item.old, item.new) for item in of(done, Edit)] == [("a.py", "x = 1", "x = 2")]
    assert [item.outcome for item in of(done, Result)] == ["ok"]
    assert [item.commit for item in of(done, Facts) if item.commit] == ["abc1234"]
    silent = history(tmp_path, f"\n{BLOCK}")
    assert [item.outcome for item in of(silent, Result)] == ["unknown"]
    failed = history(tmp_path, f"\n{BLOCK}\n> The LLM did not conform to the edit format.  \n")
    assert [item.outcome for item in of(failed, Result)] == ["error"]


def test_the_lines_of_a_block_may_begin_as_a_persons_or_aiders_do(tmp_path: Path) -> None:
    block = "r.md\n```\n<<<<<<< SEARCH\n> quoted\n#### head\n=======\n> new\n>>>>>>> REPLACE\n```\n"
    items = history(tmp_path, f"\n{block}\n#### Thanks.\n")
    assert [(item.old, item.new) for item in of(items, Edit)] == [("> quoted\n#### head", "> new")]
    assert typed(items) == ["Thanks."]


def test_commands_are_no_words_to_the_agent_and_a_shell_line_is_a_call(tmp_path: Path) -> None:
    items = history(
        tmp_path, "\n#### /add a.py\n\n> Added a.py to the chat.  \n\n#### /run make test\n\n#### /ask Why?\n"
    )
    assert typed(items) == ["/ask Why?"]
    assert ("/add a.py", "command") in injected(items)
    assert [item.command for item in of(items, Call)] == ["make test"]
    assert all(item.outcome == "unknown" for item in of(items, Result))


def test_a_stop_and_a_refusal_are_told_and_a_permission_is_neither(tmp_path: Path) -> None:
    asked = "> Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: "
    items = history(tmp_path, f"\n{asked}n  \n> ^C again to exit  \n")
    assert (len(of(items, Rejection)), len(of(items, Interrupt))) == (1, 1)
    allowed = history(tmp_path, f"\n{asked}y  \n> Running make  \n")
    assert not of(allowed, Rejection) and not of(allowed, Interrupt)
    assert [item.command for item in of(allowed, Call)] == ["make"]


def test_files_are_the_home_folders_and_the_named_one(tmp_path: Path) -> None:
    (tmp_path / aider.NAME).write_text("x")
    named = tmp_path / "named.md"
    named.write_text("x")
    found = list(aider.files({"AIDER_CHAT_HISTORY_FILE": str(named)}, str(tmp_path)))
    assert [(Path(each.path).name, each.folders) for each in found] == [
        (aider.NAME, (str(tmp_path),)),
        ("named.md", (str(tmp_path),)),
    ]
    assert list(aider.files({}, str(tmp_path / "none"))) == []
