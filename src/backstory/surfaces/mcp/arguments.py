"""Holds the arguments of a call to the schema of its tool.

Only the words of JSON Schema that our own schemas use; a test compares the verdicts with those of a full validator,
whose import alone would cost the first call 60 ms.
"""

from __future__ import annotations

from typing import Any

from backstory.surfaces.mcp.schemas import Schema

_TYPES: dict[str, type[Any]] = {"string": str, "integer": int, "array": list, "object": dict}
_NAMES = {"string": "a text", "integer": "a whole number", "array": "a list", "object": "an object"}


def given(arguments: dict[str, Any] | None, schema: Schema) -> dict[str, Any]:
    """The arguments without nulls, which many clients send for what they leave out."""
    required = schema.get("required", ())
    return {name: value for name, value in (arguments or {}).items() if value is not None or name in required}


def fault(arguments: dict[str, Any], schema: Schema) -> str:
    """What is wrong with `arguments`, in one sentence; "" when nothing is."""
    known = schema["properties"]
    for name in arguments:
        if name not in known:
            return f"There is no argument {name[:60]!r}; there are: {', '.join(known)}."
    for name in schema.get("required", ()):
        if name not in arguments:
            return f"The argument {name!r} is missing."
    for name, value in arguments.items():
        wrong = _value(name, value, known[name])
        if wrong:
            return wrong
    return ""


def _value(name: str, value: Any, schema: Schema) -> str:
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
        return f"{name} must be {_NAMES[kind]}."
    if "enum" in schema and value not in schema["enum"]:
        return f"{name} must be one of: {', '.join(schema['enum'])}."
    if kind == "integer" and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"{name} must lie between {schema['minimum']} and {schema['maximum']}."
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return f"Each of {name} must be a text."
    return ""
