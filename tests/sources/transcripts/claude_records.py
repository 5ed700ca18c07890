"""Records as Claude Code writes them, for the tests of its reader."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from backstory.sources.transcripts import claude_code, codex
from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.stream import Injected, Item, Result, UserText

AT = "2026-03-01T10:00:00.500Z"
MICROS = 1_772_359_200_500_000


def record(kind: str, uuid: str, **more: Any) -> dict[str, Any]:
    return {
        "type": kind, "uuid": uuid, "timestamp": AT, "sessionId": "s-1", "cwd": "/home/ann/shop",
        "gitBranch": "main", "version": "2.1.197", **more,
    }  # fmt: skip


def user(uuid: str, content: object, **more: Any) -> dict[str, Any]:
    return record("user", uuid, message={"role": "user", "content": content}, **more)


def assistant(uuid: str, *blocks: dict[str, Any], **message: Any) -> dict[str, Any]:
    return record("assistant", uuid, message={"role": "assistant", "content": list(blocks), **message})


def tool(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(uuid: str, call: str, said: object, more: object = None, **flags: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": said, **flags}
    return user(uuid, [block], **({} if more is None else {"toolUseResult": more}))


def written(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def read(path: Path, cursor: Cursor | None = None, client: str = "claude-code") -> list[Item]:
    module = claude_code if client == "claude-code" else codex
    return list(module.open_reader(Found(client, str(path)), cursor or Cursor()))


def items(tmp_path: Path, *records: Any, client: str = "claude-code", name: str = "s-1.jsonl") -> list[Item]:
    return read(written(tmp_path / name, records), client=client)


def of(found: Iterable[Item], kind: type) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def typed(found: Iterable[Item]) -> list[str]:
    return [item.text for item in of(found, UserText)]


def origins(found: Iterable[Item]) -> list[str]:
    return [item.origin for item in of(found, Injected)]


def outcomes(found: Iterable[Item]) -> list[tuple[str, int | None]]:
    return [(item.outcome, item.code) for item in of(found, Result)]
