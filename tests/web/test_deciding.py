"""What can be changed on the page, by whom, and what the log says of it."""

import time

import pytest

from backstory.project import answers
from backstory.project.reviewing import order
from backstory.project.sharing.answers import listed
from tests.project.memory import AGENT, HOOK, OTHER_AGENT, PERSON, Memory
from tests.web.client import Answer, Client


@pytest.fixture
def waiting(memory: Memory) -> list[str]:
    """Ten proposals, oldest first."""
    texts = (
        "Use ruff alone",
        "Keep fixtures small",
        "Pin images by digest",
        "Never retry a POST",
        "Log in UTC, never local",
        "Name tables in the plural",
        "Rebase, do not squash",
        "Ship the schema",
        "Pass the clock in",
        "Close what you open",
    )
    return [memory.add("decision", text, HOOK) for text in texts]


def standing(memory: Memory, id_: str) -> str:
    with memory.open() as project:
        return answers.one_view(project, id_).standing


def went_on(answer: Answer, address: str) -> None:
    assert (answer.status, answer.headers.get("location")) == (303, address), answer.html.shown


def test_ten_candidates_are_decided_each_in_its_way(page: Client, memory: Memory, waiting: list[str]) -> None:
    twin = memory.add("decision", "Pass the clock in as an argument", PERSON)
    went_on(page.post(f"/review/{waiting[0]}/approve"), "/review")
    went_on(page.post(f"/review/{waiting[1]}/reject", {"reason": "too vague"}), "/review")
    went_on(page.post(f"/review/{waiting[2]}/edit", {"text": "Pin every image by its digest"}), "/review")
    went_on(page.post(f"/review/{waiting[3]}/skip"), "/review")
    went_on(page.post(f"/review/{waiting[8]}/merge", {"into": twin}), "/review")
    for id_ in (*waiting[4:8], waiting[9]):
        went_on(page.post(f"/review/{id_}/approve"), "/review")
    assert [standing(memory, id_) for id_ in waiting] == [
        "confirmed", "rejected", "superseded", "proposed", *["confirmed"] * 4, "superseded", "confirmed",
    ]  # fmt: skip
    shown = page.get("/review").html.shown
    assert "1 waits for a person; 9 decided here" in shown and "skipped" in shown
    with memory.open() as project:
        (stone,) = answers.tombstones(project)
        assert stone["reason"] == "too vague" and stone["by"] == "Ada"
        assert order(project) == [waiting[3]]
        new = [view for view in answers.get(project, "decision") if view.summary == "Pin every image by its digest"]
        assert [view.standing for view in new] == ["confirmed"]


def test_each_decision_can_be_taken_back_last_first(page: Client, memory: Memory, waiting: list[str]) -> None:
    page.post(f"/review/{waiting[0]}/approve")
    page.post(f"/review/{waiting[1]}/reject", {"reason": "no"})
    page.post(f"/review/{waiting[2]}/edit", {"text": "In other words"})
    for id_ in reversed(waiting[:3]):
        went_on(page.post("/review/undo"), f"/review?id={id_}")
        assert standing(memory, id_) == "proposed"
    refused = page.post("/review/undo")
    assert refused.status == 400 and "nothing to undo" in refused.html.shown
    with memory.open() as project:
        assert order(project) == waiting and answers.tombstones(project) == []


def test_what_was_decided_already_is_not_decided_twice(page: Client, memory: Memory, waiting: list[str]) -> None:
    memory.act("reject", waiting[0], PERSON, reason="somebody else said no")
    refused = page.post(f"/review/{waiting[0]}/approve")
    assert refused.status == 409 and "was decided already" in refused.html.shown
    assert standing(memory, waiting[0]) == "rejected"
    went_on(page.post(f"/review/{waiting[1]}/approve"), "/review")


@pytest.mark.parametrize(("action", "field"), [("reject", "reason"), ("edit", "text"), ("merge", "into")])
def test_a_decision_without_what_it_needs_is_refused(
    page: Client, memory: Memory, waiting: list[str], action: str, field: str
) -> None:
    for fields in ({}, {field: "  "}):
        refused = page.post(f"/review/{waiting[0]}/{action}", fields)
        assert refused.status == 400 and "is missing" in refused.html.shown
    assert page.post(f"/review/{waiting[0]}/explode").status == 400
    assert standing(memory, waiting[0]) == "proposed"


def test_what_somebody_wrote_is_given_back_where_it_is_not_taken(
    page: Client, memory: Memory, waiting: list[str]
) -> None:
    memory.act("reject", memory.add("decision", "Use a global lock"), PERSON, reason="it deadlocked")
    memory.act("approve", waiting[1], PERSON)
    hostile = "Use <b>one</b> lock \u202eelif yreve rof"
    for address, fields, status in (
        (f"/review/{waiting[0]}/edit", {"text": "Use a global lock"}, 409),
        (f"/review/{waiting[1]}/reject", {"reason": "Use a global lock"}, 409),
        (f"/review/{waiting[0]}/edit", {"text": "Use a global lock", "csrf": "of a page before"}, 403),
        ("/quiet/src/pool.py", {"span": "never", "why": "Use a global lock"}, 400),
    ):
        refused = page.post(address, fields)
        assert refused.status == status and "What you wrote Use a global lock" in refused.html.shown, address
        assert "of a page before" not in refused.text
    refused = page.post(f"/review/{waiting[1]}/reject", {"reason": hostile})
    assert "What you wrote Use <b>one</b> lock" in refused.html.shown and "\u202e" not in refused.text
    assert "What you wrote" not in page.post(f"/review/{waiting[1]}/reject", {"reason": " "}).text


@pytest.mark.parametrize("address", ["/entry/ZZZZZZ", "/case/%2399999", "/session/nobody"])
def test_a_thing_that_nobody_knows_is_no_page(page: Client, waiting: list[str], address: str) -> None:
    answer = page.get(address)
    assert answer.status == 404 and answer.html.all("main")
    assert page.get(f"/entry/{waiting[0]}").status == 200


def test_a_conflict_is_settled_with_one_side_or_both(page: Client, memory: Memory) -> None:
    one = memory.add("decision", "Retry on timeout", AGENT)
    other = memory.add("decision", "Do not retry on timeout", AGENT)
    memory.act("contest", one, OTHER_AGENT, against=other)
    assert "Retry on timeout" in page.get("/conflicts").html.shown
    went_on(page.post(f"/conflict/{other}", {"over": one}), "/conflicts")
    assert (standing(memory, other), standing(memory, one)) == ("confirmed", "superseded")


def test_a_contested_candidate_shows_the_other_side(page: Client, memory: Memory) -> None:
    one = memory.add("decision", "Retry on timeout", AGENT)
    other = memory.add("decision", "Do not retry on timeout", AGENT)
    memory.act("contest", one, OTHER_AGENT, against=other)
    text = page.get(f"/review?id={one}").html.shown
    assert "Both stand" in text and "Do not retry on timeout" in text
    went_on(page.post(f"/review/{one}/both"), "/review")
    assert (standing(memory, one), standing(memory, other)) == ("confirmed", "confirmed")


def test_an_entry_is_confirmed_retired_or_rejected_on_its_own_page(
    page: Client, memory: Memory, filled: dict[str, str]
) -> None:
    went_on(page.post(f"/entry/{filled['note']}/confirm"), f"/entry/{filled['note']}")
    went_on(page.post(f"/entry/{filled['pattern']}/retire", {"reason": "gone"}), f"/entry/{filled['pattern']}")
    went_on(page.post(f"/entry/{filled['trial']}/reject", {"reason": "never happened"}), f"/entry/{filled['trial']}")
    found = [standing(memory, filled[name]) for name in ("note", "pattern", "trial")]
    assert found == ["confirmed", "retired", "rejected"]
    history = page.get(f"/entry/{filled['pattern']}").html.shown.partition("What became of it")[2]
    assert "retire by Ada : gone" in history
    assert page.post(f"/entry/{filled['decision']}/redact").status == 400
    assert page.post(f"/entry/{filled['decision']}/reject").status in (400, 409)
    assert standing(memory, filled["decision"]) == "confirmed"


def test_a_page_that_an_agent_started_shows_all_and_changes_nothing(
    memory: Memory, filled: dict[str, str], waiting: list[str]
) -> None:
    page = Client(str(memory.root), AGENT)
    text = page.get("/review").html.shown
    assert "Use ruff alone" in text and "Log in UTC alone" in text
    assert "Approve" not in text and "not by a person at a terminal" in text
    lines = sum(path.read_bytes().count(b"\n") for path in (memory.root / ".backstory" / "log").iterdir())
    for address, fields in (
        (f"/review/{waiting[0]}/approve", {}), (f"/review/{waiting[0]}/reject", {"reason": "x"}), ("/review/undo", {}),
        (f"/entry/{filled['note']}/confirm", {}), (f"/conflict/{filled['new']}", {"over": filled["note"]}),
        ("/quiet/src/pool.py", {"why": "x"}), (f"/share/{filled['trial']}", {"libraries": "pydantic"}),
    ):  # fmt: skip
        refused = page.post(address, fields)
        assert refused.status == 409 and "Run backstory web at a terminal" in refused.html.shown.replace("`", "")
    assert lines == sum(path.read_bytes().count(b"\n") for path in (memory.root / ".backstory" / "log").iterdir())
    # Positive control: the same from a person's page.
    went_on(Client(str(memory.root), PERSON).post(f"/review/{waiting[0]}/approve"), "/review")


def test_warnings_about_a_file_are_kept_quiet_with_a_reason(
    page: Client, memory: Memory, filled: dict[str, str]
) -> None:
    assert page.post("/quiet/src/pool.py", {"span": "7d", "why": ""}).status == 400
    went_on(page.post("/quiet/src/pool.py", {"span": "7d", "why": "I am rewriting it"}), "/file/src/pool.py")
    assert "I am rewriting it" in page.get("/stats").html.shown


@pytest.mark.parametrize(("job", "address", "words"), [("verify", "/log", "sound"), ("doctor", "/doctor", "Asked")])
def test_a_check_runs_beside_and_its_result_is_shown(
    page: Client, filled: dict[str, str], job: str, address: str, words: str
) -> None:
    assert words not in page.get(address).html.shown.partition("Files of the log")[0]
    went_on(page.post(f"/check/{job}"), address)
    end = time.monotonic() + 60
    while words not in (text := page.get(address).html.shown) and time.monotonic() < end:
        time.sleep(0.1)
    assert words in text
    assert page.post("/check/other").status == 400


def test_a_failed_trial_that_names_a_library_is_offered_and_shared_only_when_a_person_says_so(
    page: Client, memory: Memory
) -> None:
    manifest = '[project]\nname = "x"\nversion = "1"\ndependencies = ["pydantic>=2.5"]\n'
    memory.commit("Declare", **{"pyproject.toml": manifest})
    trial = memory.add("trial", "Copy <i>models</i> of pydantic by hand", PERSON, outcome="failed", failure_mode="slow")
    other = memory.add("trial", "Copy files by hand", PERSON, outcome="failed", failure_mode="slow")

    def shared() -> list[str]:
        with memory.open() as project:
            return [found.id for found in listed(project.now)]

    answer = page.get("/review").html
    offered = [address for address, _ in answer.forms if address.startswith("/share/")]
    assert offered == [f"/share/{trial}"] and "Copy <i>models</i> of pydantic" in answer.shown
    assert shared() == []
    assert page.post(f"/share/{trial}", {"libraries": " "}).status == 400
    for nothing in ("@@", ">=2", "pypi:@>=2", "pydantic >=2"):
        refused = page.post(f"/share/{other}", {"libraries": nothing})
        assert refused.status == 400 and "names no library" in refused.html.shown, nothing
    went_on(page.post(f"/share/{trial}", {"libraries": "pypi:pydantic@>=2"}), "/review")
    assert shared() == [trial] and "/share/" not in page.get("/review").text
    assert page.post(f"/share/{trial}", {"libraries": "pypi:pydantic"}).status == 400
    assert "/share/" not in Client(str(memory.root), AGENT).get("/review").text
