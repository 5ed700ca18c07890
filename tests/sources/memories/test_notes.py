"""Notes: their names, tags, links, dates and observations, in any language."""

from pathlib import Path

from backstory.sources.memories import notes
from tests.sources.memories.told import Told, put, told

KNOWLEDGE = """\
---
title: Mail queue
permalink: services/mail-queue
tags: [queue, "#mail"]
created: 2026-04-05 06:07
---
# Mail queue

## Observations
- [decision] One worker for each domain #throttling (others blocked us)
- [gotcha] Bounces come back as mails of their own
- [fact] It holds 4,000 mails
- [ ] a thing to do is no observation
```
- [decision] Nothing in code
```

## Relations
- depends_on [[Domain list]]
- part_of [[Sending#Queues|the sender]]
"""


def read(folder: Path) -> Told:
    return told(notes.read(str(folder)))


def test_a_note_of_basic_memory_keeps_its_text_and_is_found_by_tags_and_relations(tmp_path: Path) -> None:
    found = read(put(tmp_path / "memory", {"mail.md": KNOWLEDGE}))
    note = found.item("Mail queue")
    assert set(note.fields["aliases"]) >= {
        "queue", "mail", "services/mail-queue", "throttling", "Domain list", "Sending",
    }  # fmt: skip
    assert "- depends_on [[Domain list]]" in note.fields["detail"]
    assert (note.at, note.naive) == (1_775_369_220_000_000, True)


def test_observations_that_are_a_kind_of_entry_stand_for_themselves_and_others_do_not(tmp_path: Path) -> None:
    found = read(put(tmp_path / "memory", {"mail.md": KNOWLEDGE}))
    assert found.kinds() == {"decision": 1, "lesson": 1, "note": 1}
    decision = found.item("One worker for each domain")
    assert (decision.fields["detail"], decision.fields["aliases"]) == ("others blocked us", ["throttling"])
    assert decision.place == "mail.md:10"


def test_a_vault_of_obsidian_is_known_and_its_tags_links_and_aliases_are_kept(tmp_path: Path) -> None:
    text = "---\naliases: [Anmeldung]\ntags: konto/neu\n---\nSiehe [[Sitzung|die Sitzung]] #offen, `#kein` und #12.\n"
    vault = put(
        tmp_path / "vault", {".obsidian/app.json": "{}", "Login.md": text, "ログイン.md": "# 認証の決定\n\n#認証\n"}
    )
    assert notes.takes(str(vault)) == str(vault)
    assert notes.takes(str(put(tmp_path / "other", {"a.md": "x"}))) == ""
    found = read(vault)
    assert found.item("Login").fields["aliases"] == ["Anmeldung", "konto/neu", "offen", "Sitzung"]
    assert "[[Sitzung|die Sitzung]]" in found.item("Login").fields["detail"]
    assert found.item("認証の決定").fields["aliases"] == ["ログイン", "認証"]


def test_bad_fields_dates_and_states_are_said_with_their_line_and_the_note_is_read(tmp_path: Path) -> None:
    found = read(put(tmp_path / "memory", {
        "a.md": "---\nname: A\ndescription: one: two: three\n---\nBody\n",
        "b.md": "---\ntitle: B\ncreated: whenever\nstatus: simmering\n---\nBody\n",
        "c.md": "---\ntitle: C\ncreated: 2026-01-01\nstatus: active\n---\nBody\n",
        "d.md": "",
        "e.md": "---\ntitle: Only fields\n---\n",
    }))  # fmt: skip
    said = [(Path(one.file).name, one.line, one.why.split(" (")[0]) for one in found.warned]
    assert said == [
        ("a.md", 3, "this is not valid YAML"),
        ("b.md", 3, "no date: 'whenever'; it was left out"),
        ("b.md", 4, "the status 'simmering' is unknown; read as if it held"),
    ]
    assert [(Path(one.file).name, one.why) for one in found.skipped] == [
        ("d.md", "an empty file"), ("e.md", "no text below the fields"),
    ]  # fmt: skip
    assert found.kinds() == {"note": 3}


def test_an_index_of_links_is_left_out_and_one_with_words_of_its_own_is_not(tmp_path: Path) -> None:
    links = "# Index\n\n- [A](a.md) \u2014 about a\n- [[b]]\n"
    found = read(put(tmp_path / "memory", {"MEMORY.md": links}))
    assert ([one.why for one in found.skipped], found.items) == (["only an index of the others"], [])
    found = read(put(tmp_path / "memory", {"MEMORY.md": links + "- Always build with the lock file\n"}))
    assert ([one.why for one in found.skipped], found.kinds()) == ([], {"note": 1})


def test_a_note_that_says_what_it_is_becomes_that_kind(tmp_path: Path) -> None:
    found = read(put(tmp_path / "memory", {
        "a.md": "---\ntype: decision\n---\n# Use WAL\n\nFor readers.\n",
        "b.md": "---\ntype: feedback\n---\n# Say less\n\nIn answers.\n",
    }))  # fmt: skip
    assert {item.fields["summary"]: item.kind for item in found.items} == {"Use WAL": "decision", "Say less": "note"}
