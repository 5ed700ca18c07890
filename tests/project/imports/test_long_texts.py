"""What is too long for one entry goes on in notes: nothing is lost, no secret is cut in two, and only once."""

import json
from pathlib import Path

import pytest

from backstory.project import answers
from backstory.project.imports.pieces import fitted
from backstory.project.opened import Project
from backstory.project.validation import WITHHELD
from backstory.records.event import DETAIL_LIMIT
from tests.project.imports.taking import taken

PARAGRAPHS = [f"Paragraph {number} " + "lorem " * 60 for number in range(40)]
LONG = "\n\n".join(PARAGRAPHS) + "\n\nThe tail says xylophone\n"


def note(folder: Path, name: str, text: str) -> Path:
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / name).write_text(text, encoding="utf-8")
    return folder / "memory"


def test_the_tail_of_a_long_note_is_found_and_every_word_is_there_once(memory: Project, tmp_path: Path) -> None:
    path = note(tmp_path, "long.md", f"# The long one\n\n{LONG}")
    note(tmp_path, "short.md", "# The short one\n\nOne line.\n")
    done = taken(memory, path)
    assert (done.added, done.continued) == ({"note": 2}, 3)
    views = {view.summary: view for view in answers.review_queue(memory)}
    assert set(views) == {"The long one", "The short one", *(f"The long one ({n} of 4)" for n in range(2, 5))}
    hits = answers.search(memory, "xylophone", standings=("proposed",)).hits
    assert [hit.title for hit in hits] == ["The long one (4 of 4)"]
    text = "\n\n".join(str(views[name].fields["detail"]) for name in sorted(views) if name.startswith("The long"))
    assert all(text.count(paragraph.strip()) == 1 for paragraph in PARAGRAPHS)
    assert all(len(str(view.fields["detail"])) <= DETAIL_LIMIT for view in views.values())
    assert "goes on in 3 notes" in str(views["The long one"].fields["detail"])
    assert "imported from notes, long.md" in views["The long one (4 of 4)"].evidence


def test_a_second_run_adds_no_part_and_one_that_is_missing_comes(memory: Project, tmp_path: Path) -> None:
    path = note(tmp_path, "long.md", f"# The long one\n\n{LONG}")
    planned, done, again = taken(memory, path, dry_run=True), taken(memory, path), taken(memory, path)
    assert (planned.added, planned.continued) == (done.added, done.continued) == ({"note": 1}, 3)
    assert (again.added, again.continued, again.present) == ({}, 0, 1)
    note(tmp_path, "long.md", f"# The long one\n\n{LONG}\n\n{'More words. ' * 400}")
    assert taken(memory, path).continued > 0


def test_the_rest_of_an_issue_belongs_to_its_case(memory: Project, tmp_path: Path) -> None:
    folder = tmp_path / ".beads"
    folder.mkdir()
    (folder / "issues.jsonl").write_text(json.dumps({"id": "q-1", "title": "Slow", "description": LONG}) + "\n")
    taken(memory, folder)
    views = {view.summary: view for view in answers.review_queue(memory)}
    assert views["Slow (2 of 4)"].issue == views["Slow"].id


def test_a_secret_on_the_border_is_taken_out_before_the_cut() -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "\n\n".join(["MIIEpAIBAAKCAQEA" * 4] * 40)
        + "\n-----END RSA PRIVATE KEY-----"
    )
    fields, rest, secrets = fitted({"summary": "Key", "detail": "word " * 700 + key + " after"})
    text = str(fields["detail"]) + "".join(str(part["detail"]) for part in rest)
    assert "MIIEpAIBAAKCAQEA" not in text
    assert "after" in text
    assert secrets
    assert fitted({"summary": "Key", "detail": "word " * 900})[2] == ()


def test_texts_without_a_border_are_cut_where_it_has_to_be_and_nothing_is_lost() -> None:
    text = "\u8a2d\u8a08" * 5_000
    fields, rest, _ = fitted({"summary": "S", "detail": text})
    parts = [str(fields["detail"]).split("\n\n(goes on")[0], *(str(part["detail"]) for part in rest)]
    assert "".join(parts) == text
    assert fitted({"summary": "S", "detail": "short"}) == ({"summary": "S", "detail": "short"}, [], ())


def test_a_long_summary_and_a_long_rationale_lose_nothing() -> None:
    fields, rest, _ = fitted({"summary": "word " * 100, "rationale": "because " * 700})
    assert len(fields["summary"]) <= 300
    assert str(fields["detail"]).startswith("word word")
    assert len(fields["rationale"]) <= DETAIL_LIMIT
    assert [str(part["detail"])[:10] for part in rest] == ["rationale:"]


def test_a_text_that_cannot_be_checked_for_secrets_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise RuntimeError(text[:5])

    long = {"summary": "S", "detail": "word " * 2_000}
    assert "word" in str(fitted(long)[0]["detail"])
    monkeypatch.setattr("backstory.records.secrets.redact", broken)
    assert fitted(long) == ({"summary": "S", "detail": WITHHELD}, [], ("withheld",))
