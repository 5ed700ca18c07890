"""Documents are written by a process of their own as the caller would have written them, or the caller is told."""

import os
import random
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.index import build, documents, feeding
from backstory.index.documents import Row
from backstory.index.feeding import Feeder
from backstory.index.search import search


def _rows(count: int, chance: random.Random) -> list[Row]:
    words = "lock parser cache 数据库 re\u0301sume\u0301 parseConfigFile \udc80broken upload".split()
    titles = [" ".join(chance.choices(words, k=4)) for _ in range(count)]
    return [("commit", f"sha{n}", "commit", n, title, "body\n" * 3, [f"src/{n}.py"]) for n, title in enumerate(titles)]


def _content(path: str) -> list[tuple[object, ...]]:
    db, _ = build.open_for_writing(path)
    rows = db.execute(
        "SELECT d.rowid, d.ref, d.title, f.extra FROM documents AS d JOIN documents_fts AS f ON f.rowid = d.rowid"
    )
    found = sorted(rows.fetchall())
    db.close()
    return found


def test_the_index_is_the_same_as_when_it_is_written_here(tmp_path: Path) -> None:
    rows = _rows(300, random.Random(1))
    here, there = str(tmp_path / "here" / "index.sqlite"), str(tmp_path / "there" / "index.sqlite")
    for path in (here, there):
        db, _ = build.open_for_writing(path)
        if path == here:
            for start in (200, 100, 0):
                feeding.write(db, rows[start : start + 100], 1_000 + start + documents.rowid_range("commit")[0])
        else:
            with Feeder(path) as feeder:
                for start in (200, 100, 0):
                    feeder.append(rows[start : start + 100], 1_000 + start + documents.rowid_range("commit")[0])
        db.close()
    assert _content(here) == _content(there)
    assert len(_content(there)) == 300


def test_what_it_wrote_is_found_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    db, _ = build.open_for_writing(path)
    with Feeder(path) as feeder:
        feeder.append(
            [("commit", "a", "commit", 1, "Mend the parser", "", ["src/parse.py"])], documents.next_rowid(db, "commit")
        )
    assert [hit.ref for hit in search(db, "parser")] == ["a"]
    db.close()
    assert all(name.startswith("index.sqlite") for name in os.listdir(tmp_path))


def test_a_process_that_fails_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    (tmp_path / "index.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(BackstoryError, match="take the history in") as caught, Feeder(path) as feeder:
        feeder.append(_rows(3, random.Random(1)), 5)
    assert "refresh" in (caught.value.hint or "")


def test_it_is_ended_when_the_caller_fails(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    db, _ = build.open_for_writing(path)
    with pytest.raises(RuntimeError, match="ours"), Feeder(path) as feeder:
        process = feeder._process
        raise RuntimeError("ours")
    assert process.poll() is not None
    db.close()


@pytest.mark.parametrize("cores", [1, 8])
def test_with_few_cores_the_words_wait_for_the_end_and_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    path = str(tmp_path / "index.sqlite")
    db, _ = build.open_for_writing(path)
    first = documents.next_rowid(db, "commit")
    rows = _rows(40, random.Random(2))
    with Feeder(path) as feeder:
        for start in range(0, 40, 10):
            feeder.append(rows[start : start + 10], first + start)
        if cores == 1:
            assert documents.refs(db, "commit") == set()
    assert documents.refs(db, "commit") == {row[1] for row in rows}
    db.close()
