import unicodedata


def value_key(text: str) -> str:
    return (
        " ".join("".join(c if c.isalnum() else " " for c in unicodedata.normalize("NFKC", text).casefold()).split())
        or text
    )


def similarity(a: str, b: str) -> float:
    x, y = set(value_key(a).split()), set(value_key(b).split())
    return len(x & y) / len(x | y) if x | y else 0.0
