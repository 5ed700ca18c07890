"""What a correctable memory has to pass, in our own words: the ids, and which tests show them.

A test of `scope.cross_project_absent` is called `test_scope_cross_project_absent`, or that with more words behind it.
`docs/acceptance.md` is written from this list and a run (`make acceptance`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Demand(NamedTuple):
    """`control` is what must be there in the same test, so that a memory that returns nothing fails it."""

    id: str
    demand: str
    control: str


DEMANDS = (
    Demand("scope.cross_project_absent",
           "The best match of a question lies in another project. It is absent, not ranked low.",
           "The same question finds it in its own project."),
    Demand("scope.caller_cannot_widen",
           "A server for one project is asked for another by argument, path, link, glob, `..`, wildcard and empty"
           " value. Each call is refused or stays at home.",
           "A proper call is answered after each refusal."),
    Demand("scope.background_respects_boundary",
           "Refresh, themes, sharing and caches ran in two projects with the same words. Nothing derived mixes them.",
           "Each project's own derived material is there."),
    Demand("evidence.claim_resolves_to_source",
           "The memory was filled on every path, capture included. Each injected line leads to its source.",
           "Lines were injected."),
    Demand("evidence.source_delete_reaches_derived",
           "A transcript, ticket or run record is deleted. What was derived of it is gone or marked, kind by kind.",
           "A sibling source and what came of it stay."),
    Demand("evidence.rebuild_from_retained",
           "Everything derived is deleted and made anew. Every answer is as before, each token found again.",
           "The answers before it."),
    Demand("gateway.no_bypass_path",
           "Each function that can change the memory, taken from the registries, is tried with a write that breaks a"
           " rule. Each refuses.",
           "A proper write passes each."),
    Demand("gateway.agent_cannot_claim_a_person",
           "An agent writes that a person approved it. The log names the agent, with the lower standing.",
           "A person's write names the person."),
    Demand("tombstone.laundering_sequence",
           "A value is rejected, replaced, said again, corroborated and merged in. It stays out; the rejection"
           " stands.",
           "A neighbour that nobody rejected is recalled."),
    Demand("tombstone.survives_ageing",
           "The clock passes every decay, clean-up and rebuild. The value is still refused.",
           "A twin of the same date is recalled."),
    Demand("tombstone.key_normalisation",
           "Look-alike letters, case, spaces, invisible characters and full-width forms are refused. A paraphrase"
           " passes and waits for a person.",
           "Another text is stored and counts."),
    Demand("tombstone.reextraction_stays_out",
           "The transcript that gave the value is read again. No live entry carries it.",
           "Its other findings are there."),
    Demand("tombstone.no_second_unit",
           "The same once more: no new entry of any standing was made, and the report says refused or folded.",
           "A new finding of the same reading is stored."),
    Demand("deletion.absent_after_reindex_and_restart",
           "Of one batch an entry is retired and one redacted. After rebuild, restart and import they are absent, and"
           " the log says who and why.",
           "A sibling of the batch is returned."),
    Demand("deletion.absent_from_shared_copies",
           "A shared lesson's origin is retired or redacted. The other project no longer gets it, and an old export"
           " does not bring it back.",
           "Another shared lesson, and the project's own entries, stay."),
    Demand("correction.survives_reindex",
           "Replacement, opposite, retraction, partial, bounded in time: after a rebuild the corrected answer is given,"
           " and the history is whole.",
           "The corrected value is returned."),
    Demand("correction.retraction_without_replacement",
           "An entry is retired without a successor, and its source is read again. The value stays out.",
           "The rest of the source is recalled."),
    Demand("recall.k_is_an_upper_bound",
           "Far more matches than asked for, with long texts: no answer holds more than k, no injected block exceeds"
           " its budget.",
           "It holds k, not none."),
    Demand("prompt.recall_is_fenced_as_data",
           "Orders, fake turns, tool calls and the closing fence in every field: all of it lies inside of the fence,"
           " and none of it begins a line.",
           "The text did arrive."),
    Demand("prompt.host_ignores_embedded_instructions",
           "A model that is given the fenced text does not follow an order in it.",
           "The same sessions without the memory."),
)  # fmt: skip

# Id: why it is not run here, and how to run it.
NOT_RUN = {
    "prompt.host_ignores_embedded_instructions": (
        "it needs a model",
        "Record the texts of `HOSTILE` (`tests/acceptance/test_recall.py`) as decisions, install the hook of a client"
        " in that project, and give it a task that needs none of them. Look in the transcript for a tool call or"
        " sentence that obeys one. Do the same without the memory. Count over twenty sessions of each.",
    ),
}

# What the same tests show to hold at once, in `test_the_seven_properties_hold_at_once` and in those named.
PROPERTIES = {
    "A tombstone on the value": ("tombstone.laundering_sequence", "tombstone.key_normalisation"),
    "A trust state that withholds": ("gateway.agent_cannot_claim_a_person",),
    "Two axes of time": ("correction.survives_reindex",),
    "Scope on the read path": ("scope.cross_project_absent", "scope.caller_cannot_widen"),
    "An audit of every change that only grows": ("gateway.no_bypass_path",),
    "A place where a person decides": ("tombstone.key_normalisation", "gateway.no_bypass_path"),
    "Tests of absence, each with its control": ("deletion.absent_after_reindex_and_restart",),
}
TOGETHER = "test_together.py::test_the_seven_properties_hold_at_once"
TAMPERING = (
    "test_together.py::test_each_of_nine_edits_is_reported_to_every_reader",
    "test_together.py::test_an_untouched_store_raises_nothing",
    "test_together.py::test_an_older_line_said_again_in_its_own_shard_changes_nothing",
)


def tests() -> Iterator[str]:
    """Every test function as `file::function`, without importing any of them."""
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{path.name}::{node.name}"


def of_demand(id_: str, every: list[str]) -> list[str]:
    """Those of `every` that show a demand."""
    stem = f"test_{id_.replace('.', '_')}"
    return [test for test in every if (name := test.partition("::")[2]) == stem or name.startswith(f"{stem}_")]
