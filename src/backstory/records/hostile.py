def one_line(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]


def fenced(text: str, limit: int = 10000) -> str:
    return one_line(text.replace("<", "‹").replace(">", "›"), limit)


def is_directive(text: str) -> str | None:
    return "ignore" if "ignore all previous" in text.lower() else None
