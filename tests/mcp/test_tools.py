"""The list of tools: what a session pays for it, and what it promises."""

import json

import jsonschema
import pytest

from backstory.records.codec import shape_of
from backstory.records.kinds.trial import OUTCOMES
from backstory.records.registry import KINDS, kind_name
from backstory.surfaces.mcp import arguments, offering, schemas, tools


def listed(role: str = "write") -> list[dict[str, object]]:
    return offering.offer(role).listed()


def test_the_list_costs_a_session_at_most_2000_tokens_and_has_at_most_nine_tools() -> None:
    assert len(json.dumps({"tools": listed()}, separators=(",", ":"))) / 4 <= 2_000
    assert len(listed()) <= 9


def test_instructions_fit_every_client_and_name_the_supersede_call() -> None:
    assert all(len(tools.instructions(role).encode()) <= 2_048 for role in ("read", "write"))
    text = tools.instructions("write")
    assert 'revise_project_memory(action="supersede", id="OLD_ID", by="NEW_ID")' in text
    assert "not instructions" in text
    for name in ("record_project_memory", "revise_project_memory"):
        assert name in text and name not in tools.instructions("read")


def test_the_read_role_is_offered_the_tools_that_read() -> None:
    assert [tool.name for tool in tools.offered("read")] == [
        "get_project_memory",
        "search_project_memory",
        "brief",
        "precheck",
        "case",
        "query_history",
        "status",
    ]
    assert [tool.name for tool in tools.offered("write")] == list(tools.TOOLS)


def test_every_tool_says_what_it_does_to_the_memory() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in listed()}
    writing = ["case", "record_project_memory", "revise_project_memory"]
    assert [name for name, hint in hints.items() if not hint["readOnlyHint"]] == writing
    assert [hints[name]["destructiveHint"] for name in writing] == [False, False, True]
    for hint in hints.values():
        assert hint["openWorldHint"] is False
        # Not said is not idempotent, which is right for what writes and of no meaning for what reads.
        assert "idempotentHint" not in hint


def test_a_case_is_opened_with_the_write_role_only() -> None:
    case = tools.TOOLS["case"]
    assert case.listed("read")["annotations"]["readOnlyHint"]
    for role, fits in (("read", False), ("write", True)):
        assert (arguments.fault({"summary": "It hangs"}, case.schema(role)) == "") is fits
        assert arguments.fault({"id": "#717"}, case.schema(role)) == ""


def test_every_schema_is_sound_and_strict_and_every_tool_has_a_title() -> None:
    for tool in tools.TOOLS.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.schema("write"))
        assert tool.schema("write")["additionalProperties"] is False
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.title and len(tool.description) < 400
    assert "supersedes" in tools.TOOLS["record_project_memory"].description


def test_the_kinds_of_the_schemas_are_the_kinds_there_are() -> None:
    assert {kind_name(kind) for kind in schemas.KINDS} == set(KINDS)
    assert "attempt" in schemas.KINDS
    assert schemas.OUTCOMES == OUTCOMES


def test_every_field_that_an_agent_may_set_belongs_to_a_kind() -> None:
    fields = {field for kind in KINDS for field in shape_of(kind)}
    names = set(schemas.RECORD["properties"]) - {"kind", "project_path", "file_refs"}
    assert names <= fields


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search_project_memory", {"query": "x"}),
        ("search_project_memory", {"query": "x", "limit": 5, "path": "a", "kind": "fix", "standing": "retired"}),
        ("record_project_memory", {"kind": "decision", "summary": "x", "supersedes": ["a"], "decay_days": 3}),
        ("get_project_memory", {}),
        ("revise_project_memory", {"action": "confirm", "id": "x"}),
        ("brief", {"files": ["a"], "budget": 300}),
        ("precheck", {"files": ["a"], "intent": "x"}),
        ("case", {"id": "#717"}),
        ("status", {}),
    ],
)
def test_our_check_of_arguments_agrees_with_a_full_validator(tool: str, given: dict[str, object]) -> None:
    schema = tools.TOOLS[tool].input_schema
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(given) and arguments.fault(given, schema) == ""
    odd: list[object] = ["", "other", 0, 1, 51, -3, True, None, [], ["a"], [1], [None], {}, {"a": 1}, 1.5]
    tried = [{**given, name: value} for name in [*schema["properties"], "by_whom"] for value in odd]
    tried += [{key: value for key, value in given.items() if key != name} for name in given]
    verdicts = {validator.is_valid(case) for case in tried}
    assert verdicts == {True, False}
    for case in tried:
        assert (arguments.fault(case, schema) == "") is validator.is_valid(case), case


@pytest.mark.parametrize("claim", ["by", "approved_by", "standing", "pinned", "at", "id", "branch", "held", "evidence"])
def test_an_argument_that_claims_another_writer_or_standing_does_not_exist(claim: str) -> None:
    schema = tools.TOOLS["record_project_memory"].input_schema
    given = {"kind": "note", "summary": "Approved by a person"}
    assert arguments.fault(given, schema) == ""
    assert claim in arguments.fault({**given, claim: "a person"}, schema)
