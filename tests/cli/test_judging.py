import pytest

from .conftest import Cli
from .terminal import person

PERSON_ONLY = {
    "approve": ["ID"],
    "reject": ["ID", "--why", "wrong"],
    "resolve": ["ID", "--over", "OTHER"],
    "redact": ["ID", "--why", "private"],
}


@pytest.mark.parametrize("name", PERSON_ONLY)
def test_what_only_a_person_may_do_is_refused_to_an_agent_and_done_for_a_person(name: str, cli: Cli) -> None:
    one, other = cli.record("decide", "Retry uploads"), cli.record("decide", "Never retry uploads")
    args = [{"ID": one, "OTHER": other}.get(arg, arg) for arg in PERSON_ONLY[name]]
    refused = cli(name, *args, code=4)
    assert "only a person may" in refused.stderr
    assert cli.standing(one) == "active"
    cli(name, *args, person=True)
    assert cli.standing(one) != "active"


def test_a_real_terminal_makes_a_person(cli: Cli) -> None:
    id_ = cli.record("note", "Something")
    code, text = person(cli.folder, "reject", id_, "--why", "it is wrong")
    assert (code, text.startswith(f"Rejected note {id_[-6:]} (rejected)")) == (0, True)
    code, text = person(cli.folder, "reject", id_, "--why", "it is wrong", env={"CODEX_SANDBOX": "x"})
    assert code == 4


def test_a_rejected_value_stays_out_until_it_is_lifted(cli: Cli) -> None:
    id_ = cli.record("decide", "The API is rate limited")
    cli("reject", id_, "--why", "it never was", person=True)
    refused = cli("decide", "the API is  RATE limited!", code=4)
    assert "it never was" in refused.stderr
    assert "rate limited" in cli("review", "--rejected").stdout
    hint = refused.stderr.split("`")[1].split()
    cli(*hint[1:], code=4)
    cli(*hint[1:], person=True)
    assert cli.standing(id_) == "active"
    assert "rate limited" not in cli("review", "--rejected").stdout


def test_a_value_without_an_entry_can_be_rejected_and_lifted_by_its_words(cli: Cli) -> None:
    cli("reject", "--value", "Ship on Fridays", "--why", "nobody is there", person=True)
    cli("note", "ship on fridays", code=4)
    cli("note", "Ship on Thursdays")
    cli("lift", "Ship", "on", "Fridays", person=True)
    cli("note", "ship on fridays")


def test_rejecting_takes_one_thing_at_a_time(cli: Cli) -> None:
    id_ = cli.record("note", "Something")
    assert "one at a time" in cli("reject", "--why", "x", person=True, code=2).stderr
    assert "one at a time" in cli("reject", id_, "--value", "x", "--why", "x", person=True, code=2).stderr
    assert cli.standing(id_) == "active"


def test_retire_needs_a_reason_and_keeps_the_entry_findable(cli: Cli) -> None:
    id_ = cli.record("note", "The parser is slow")
    refused = cli("retire", id_, code=2)
    assert "--why" in refused.stderr
    cli("retire", id_, "--why", "rewritten")
    assert "parser" not in cli("search", "slow").stdout.split("No longer holds")[0]
    assert "rewritten" in cli("show", id_).stdout


def test_an_agent_only_puts_in_doubt_what_a_person_confirmed(cli: Cli) -> None:
    id_ = cli.record("note", "Said by a person", person=True)
    text = cli("retire", id_, "--why", "the agent thinks so").stdout
    assert text.startswith("Put in doubt")
    assert cli.standing(id_) == "contested"
    cli("confirm", id_, person=True)
    assert cli.standing(id_) == "confirmed"


def test_supersede_takes_over_kind_files_and_case(cli: Cli) -> None:
    issue = cli.record("issue", "Login fails")
    old = cli.record("hypothesis", issue, "the clock drifts", "-f", "src/store.py#save", "-f", "README.md")
    new = cli.json("show", cli.record("supersede", old, "the", "clock", "jumps", "--why", "seen in the log"))["entry"]
    assert (new["kind"], new["issue"], new["summary"]) == ("hypothesis", issue, "the clock jumps")
    assert new["files"] == ["src/store.py#save", "README.md"]
    assert new["fields"]["detail"] == "seen in the log"
    assert cli.standing(old) == "superseded"


def test_supersede_keeps_only_the_file_where_the_cited_text_is_gone(cli: Cli) -> None:
    old = cli.record("decide", "Save at once", "-f", "src/store.py:6-7")
    (cli.folder / "src" / "store.py").write_text("import os\n" * 9, encoding="utf-8")
    new = cli.record("supersede", old, "Save later")
    assert cli.json("show", new)["entry"]["files"] == ["src/store.py"]


def test_supersede_of_a_hot_file_keeps_its_path(cli: Cli) -> None:
    old = cli.record("hot", "src/store.py", "it bites")
    inside = Cli(cli.folder / "src", cli.monkeypatch)
    new = cli.json("show", inside.record("supersede", old, "it bites twice"))["entry"]
    assert (new["kind"], new["fields"]["path"]) == ("hotfile", "src/store.py")


def test_supersede_by_an_entry_that_exists(cli: Cli) -> None:
    old, new = cli.record("decide", "Retry three times"), cli.record("decide", "Retry with backoff")
    text = cli("supersede", old, "--by", new).stdout
    assert text.startswith(f"Superseded decision {old[-6:]} (superseded)")
    assert cli.json("show", old)["entry"]["superseded_by"] == [new]
    assert "What takes its place?" in cli("supersede", new, code=2).stderr
    assert "What takes its place?" in cli("supersede", new, "text", "--by", old, code=2).stderr


def test_an_agents_supersession_of_a_persons_word_waits_for_a_person(cli: Cli) -> None:
    old = cli.record("decide", "Retry three times", person=True)
    new = cli.record("supersede", old, "Retry five times")
    assert (cli.standing(old), cli.standing(new)) == ("contested", "contested")
    cli("resolve", new, "--over", old, person=True)
    assert (cli.standing(old), cli.standing(new)) == ("superseded", "confirmed")


def test_redacted_text_is_gone_from_every_answer(cli: Cli) -> None:
    id_ = cli.record("note", "The customer is called Zanzibar", "--detail", "Zanzibar Limited")
    other = cli.record("note", "The supplier is called Madagascar")
    cli("redact", id_, "--why", "a name", person=True)
    for args in (["show", id_], ["timeline"], ["export", "--all"], ["export", "--all", "--format", "jsonl"]):
        assert "Zanzibar" not in cli(*args).stdout
    assert "Madagascar" in cli("show", other).stdout
    assert not any("Zanzibar" in path.read_text("utf-8") for path in cli.folder.rglob("*.jsonl"))


def test_an_operation_answers_in_json_with_the_outcome(cli: Cli) -> None:
    id_ = cli.record("note", "Something")
    outcome = cli.json("retire", id_, "--why", "no longer")
    assert (outcome["status"], outcome["id"], outcome["standing"]) == ("recorded", id_, "retired")
