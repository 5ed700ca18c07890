"""A real, tiny embedder for tests: each of eight words is a direction, and a text goes where its words go."""

import math
import re
from array import array
from collections.abc import Sequence

WORDS = ("cache", "login", "slow", "crash", "money", "disk", "night", "test")


class SmallEmbedder:
    """An `Embedder`. `asked` is what it was asked for; it fails when `fail_after` texts are embedded."""

    batch = 2

    def __init__(self, model_id: str = "small/1", floor: float | None = 0.3, fail_after: int = 10**9) -> None:
        self.model_id = model_id
        self.dimensions = len(WORDS)
        self.floor = floor
        self.asked: list[str] = []
        self.fail_after = fail_after

    def embed(self, texts: Sequence[str]) -> list["array[float]"]:
        if len(self.asked) + len(texts) > self.fail_after:
            raise ConnectionError("the line is cut")
        self.asked += texts
        return [self.vector(text) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list["array[float]"]:
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> "array[float]":
        words = re.findall(r"\w+", text.lower())
        # A little of every direction, so that a text without known words has a vector too.
        counts = [0.1 + words.count(word) for word in WORDS]
        length = math.hypot(*counts)
        return array("f", [count / length for count in counts])
