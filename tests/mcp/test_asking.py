"""The tools for work in hand: the brief, cases, the figures, and the check before a change."""

from collections.abc import Callable
from pathlib import Path

from backstory.surfaces.mcp.replies import Reply

Ask = Callable[..., Reply]
RECORD = "record_project_memory"


def test_the_brief_is_for_the_files_named_and_fits_its_budget(ask: Ask, project: Path) -> None:
    ask(project, RECORD, kind="decision", summary="Send in one thread", file_refs=["src/net.py"])
    for number in range(30):
        ask(project, RECORD, kind="decision", summary=f"Something else that was decided, number {number}")
    reply = ask(project, "brief", files=["src/net.py"], budget=100)
    assert "Send in one thread" in reply.data["text"] and reply.data["text"] in reply.text + "\n"
    assert reply.data["tokens"] <= 100 and reply.data["left_out"]
    assert len(ask(project, "brief", files=["src/net.py"], budget=500).data["text"]) > len(reply.data["text"])


def test_an_empty_memory_says_so_and_names_its_project(ask: Ask, project: Path) -> None:
    for tool, said in (("brief", "nothing to say"), ("case", "No case is open"), ("status", "The log is whole")):
        reply = ask(project, tool)
        assert said in reply.text and reply.data["project"]["name"] == "alpha"
        assert reply.text.startswith("Project alpha (")


def test_a_case_is_opened_read_and_closed(ask: Ask, project: Path) -> None:
    id_ = ask(project, "case", summary="Sends hang", location="src/net.py").data["id"]
    ask(project, RECORD, kind="hypothesis", issue=id_, summary="The pool is too small")
    ask(project, RECORD, kind="trial", issue=id_, summary="Doubled the pool", outcome="failed")
    (listed,) = ask(project, "case").data["entries"]
    assert listed["id"] == id_ and listed["files"] == ["src/net.py"]
    shown = ask(project, "case", id=id_[-6:])
    assert [entry["kind"] for entry in shown.data["entries"]] == ["hypothesis", "trial"]
    assert shown.data["status"] == "open" and shown.data["issue"]["summary"] == "Sends hang"
    assert shown.text.index("Sends hang") < shown.text.index("pool is too small") < shown.text.index("Doubled")
    ask(project, RECORD, kind="fix", issue=id_, summary="Closed the sockets")
    assert ask(project, "case", id=id_).data["status"] == "closed"
    assert ask(project, "case").data["entries"] == []


def test_a_case_that_lives_elsewhere_is_shown_by_its_number(ask: Ask, project: Path) -> None:
    ask(project, RECORD, kind="issuenote", issue="#717", summary="Only on Mondays")
    shown = ask(project, "case", id="#717")
    assert "It lives elsewhere" in shown.text and [one["summary"] for one in shown.data["entries"]] == [
        "Only on Mondays"
    ]
    refused = ask(project, "case", id="#718")
    assert refused.failed and "#718" in refused.text and "backstory " not in refused.data["error"]["hint"]


def test_a_case_is_opened_or_shown_but_not_both(ask: Ask, project: Path) -> None:
    assert ask(project, "case", summary="It hangs", id="#717").failed
    assert not ask(project, "case", summary="It hangs").failed


def test_a_withdrawn_case_is_not_among_the_open_ones(ask: Ask, project: Path) -> None:
    gone, kept = (ask(project, "case", summary=text).data["id"] for text in ("Clocks drift", "Sends hang"))
    ask(project, "revise_project_memory", action="retire", id=gone, reason="it was the test machine")
    assert [entry["id"] for entry in ask(project, "case").data["entries"]] == [kept]


def test_the_figures_count_what_this_session_recorded(ask: Ask, project: Path) -> None:
    for session, number in (("one", 2), ("two", 1)):
        for count in range(number):
            ask(project, RECORD, session=session, kind="note", summary=f"Note {count} of session {session}")
    memory = ask(project, "status", session="one").data["memory"]
    assert (memory["live"], memory["session_entries"], memory["spent_tokens"]) == (3, 2, 0)
    assert ask(project, "status", session="two").data["memory"]["session_entries"] == 1


def test_the_check_says_what_speaks_against_a_change_and_calls_nothing_safe(ask: Ask, project: Path) -> None:
    ask(
        project, RECORD, kind="trial", summary="Send in two threads", outcome="failed", failure_mode="deadlock",
        file_refs=["src/net.py"],
    )  # fmt: skip
    ask(project, "case", summary="Sends hang on <b>Mondays</b>", location="src/net.py")
    reply = ask(project, "precheck", files=["src/net.py"], intent="Send in two threads")
    assert (reply.data["worst"], reply.data["findings"][0]["kind"]) == ("warn", "trial"), reply.text
    assert "deadlock" in reply.text and "Mondays" in reply.text and "<b>" not in reply.text
    assert reply.text.count("</project-memory>") == 1
    quiet = ask(project, "precheck", files=["src/net.py"], intent="Rename a variable")
    assert quiet.data["worst"] == "info" and "warn" not in quiet.text
    unknown = ask(project, "precheck", files=["README.md"])
    assert unknown.data["unknown"] == ["README.md"] and "Nothing is known about README.md" in unknown.text
    assert "safe" not in (reply.text + unknown.text).lower()


def test_the_check_takes_a_diff_and_files_of_this_project_only(ask: Ask, project: Path) -> None:
    diff = "--- a/src/net.py\n+++ b/src/net.py\n@@ -1 +1,2 @@\n def send():\n+    lock()\n"
    assert ask(project, "precheck", files=[], diff=diff).data["unknown"] == ["src/net.py"]
    for given in ({"files": []}, {"files": ["/etc/passwd"]}, {"files": ["../beta/x"]}):
        assert ask(project, "precheck", **given).failed
    many = ask(project, "precheck", files=[f"new{number}.py" for number in range(40)])
    assert len(many.data["unknown"]) == 40 and "35 other files" in many.text


def test_a_check_of_a_damaged_memory_says_so_first(ask: Ask, project: Path) -> None:
    ask(project, RECORD, kind="note", summary="Something", file_refs=["src/net.py"])
    (shard,) = (project / ".backstory" / "log").glob("*.jsonl")
    assert ask(project, "precheck", files=["src/net.py"]).data["problems"] == []
    shard.write_text(shard.read_text("utf-8").replace("Something", "Otherwise"), encoding="utf-8")
    reply = ask(project, "precheck", files=["src/net.py"])
    assert reply.data["problems"] and "could not be read whole" in reply.text.splitlines()[1]
