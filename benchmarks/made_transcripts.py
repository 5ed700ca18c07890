"""Makes transcripts as Claude Code writes them, fast: gigabytes of sessions in which no two turns say the same.

A record has 2 KB in the mean and four of five bytes are what tools gave and the client's own book-keeping; the shares
were counted in 18 real sessions. What persons and agents say, and the commands, are drawn for each session; the outputs
of tools and the texts of files come from a pool, since making them anew would take longer than what is measured.
"""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.words import Words

SEED = 20_261_130
MB = 1_000_000
OUTPUTS, FILES = 2_000, 600
_BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)
# Steps of a turn: tools, each a call and its result, and words in between.
_STEPS = (3, 14)
_PROGRESS = 0.4
_PROGRAMS = ("pytest -q tests/{}.py", "git diff --stat {}", "grep -rn {} src", "make {}", "python -m {}", "ls src/{}")
_BROKEN = b"\xff\xfe\xc3("


class Maker:
    """Makes sessions in the project `root`. The same seed gives the same ones."""

    def __init__(self, root: Path, seed: int = SEED) -> None:
        self.root, self.rng = root, random.Random(seed)
        self.words = Words(self.rng)
        self.paths = [f"src/{self.words.name()}/{self.words.identifier()}.py" for _ in range(FILES)]
        self.outputs = [self._output() for _ in range(OUTPUTS)]
        self.number = 0

    def _output(self) -> str:
        """What a tool gave, as JSON: 200 to 5,000 characters, most of them short."""
        size = int(min(5_000, 200 + self.rng.expovariate(1 / 1_400)))
        lines: list[str] = []
        while size > 0:
            indent = " " * self.rng.choice((0, 4, 8))
            names = (self.words.identifier(), self.words.name(), self.words.identifier())
            lines.append(f"{len(lines) + 1:>6}\t{indent}{names[0]} = {names[1]}({names[2]}, {self.rng.randrange(999)})")
            size -= len(lines[-1])
        return json.dumps("\n".join(lines))

    def session(self, size: int) -> Iterator[bytes]:
        """The lines of one session of about `size` bytes."""
        self.number += 1
        session = _Session(self, f"{self.rng.getrandbits(128):032x}", _BEGAN + timedelta(minutes=17 * self.number))
        yield from session.lines(size)

    def write(self, folder: Path, sessions: int, size: int) -> int:
        """So many sessions as files of the folder; the bytes of all."""
        folder.mkdir(parents=True, exist_ok=True)
        total = 0
        for number in range(sessions):
            with (folder / f"{number:08d}-0000-4000-8000-000000000000.jsonl").open("wb", 1 << 20) as file:
                for line in self.session(int(size * self.rng.uniform(0.5, 1.5))):
                    total += file.write(line)
        return total

    def damaged(self, path: Path, size: int, longest: int) -> int:
        """One file of `size` bytes: a line of `longest` in the middle, and in each five hundredth broken UTF-8."""
        written, is_long = 0, False
        with path.open("wb", 1 << 20) as file:
            for number, line in enumerate(self.session(size - longest)):
                if not is_long and written > (size - longest) // 2:
                    written += file.write(_long(line, longest))
                    is_long = True
                place = line.rfind(b" ") if number % 500 == 499 else -1
                written += file.write(line[:place] + _BROKEN + line[place:] if place > 0 else line)
        return written


class _Session:
    def __init__(self, maker: Maker, name: str, began: datetime) -> None:
        self.maker, self.words, self.rng = maker, maker.words, maker.rng
        self.id = f"{name[:8]}-{name[8:12]}-4{name[13:16]}-8{name[17:20]}-{name[20:]}"
        self.now, self.records, self.before = began, 0, ""
        self.head = (
            f'"isSidechain":false,"userType":"external","cwd":{json.dumps(str(maker.root))},'
            f'"sessionId":"{self.id}","version":"2.1.332","gitBranch":"main"'
        )

    def lines(self, size: int) -> Iterator[bytes]:
        while size > 0:
            for line in self._turn():
                size -= len(line)
                yield line

    def _turn(self) -> Iterator[bytes]:
        yield self._record("user", f'{{"role":"user","content":{json.dumps(self.words.text(8, 100))}}}', "")
        yield self._kept()
        for _ in range(self.rng.randint(*_STEPS)):
            if self.rng.random() < 0.45:
                text = json.dumps(self.words.text(12, 90))
                kind = "thinking" if self.rng.random() < 0.4 else "text"
                yield self._answer(f'{{"type":"{kind}","{kind}":{text}}}')
            yield from self._tool()
            if self.rng.random() < _PROGRESS:
                yield self._progress()
        yield self._answer(f'{{"type":"text","text":{json.dumps(self.words.text(30, 120))}}}')

    def _tool(self) -> Iterator[bytes]:
        call, path = f"toolu_{self.rng.getrandbits(96):024x}", self.rng.choice(self.maker.paths)
        full, output = json.dumps(f"{self.maker.root}/{path}"), self.rng.choice(self.maker.outputs)
        tool, failed, more = self.rng.choice(("Bash", "Bash", "Read", "Edit")), False, ""
        if tool == "Bash":
            command = self.rng.choice(_PROGRAMS).format(self.words.identifier())
            given = f'{{"command":{json.dumps(command)},"description":{json.dumps(self.words.text(3, 8))}}}'
            failed = self.rng.random() < 0.15
            more = f'{{"stdout":{output},"stderr":"","interrupted":false,"isImage":false}}'
        elif tool == "Read":
            given = f'{{"file_path":{full}}}'
            more = f'{{"type":"text","file":{{"filePath":{full},"content":{output},"numLines":40}}}}'
        else:
            old, new = (json.dumps(self.words.text(10, 60)) for _ in range(2))
            given = f'{{"file_path":{full},"old_string":{old},"new_string":{new}}}'
            more = (
                f'{{"filePath":{full},"oldString":{old},"newString":{new},"originalFile":{output},"structuredPatch":'
                f'[{{"oldStart":1,"newStart":1,"lines":[{old},{new}]}}],"userModified":false,"replaceAll":false}}'
            )
        yield self._answer(f'{{"type":"tool_use","id":"{call}","name":"{tool}","input":{given}}}')
        said = json.dumps(f"The file {self.maker.root}/{path} has been updated.") if tool == "Edit" else output
        flag = "true" if failed else "false"
        block = f'{{"tool_use_id":"{call}","type":"tool_result","content":{said},"is_error":{flag}}}'
        yield self._record("user", f'{{"role":"user","content":[{block}]}}', f',"toolUseResult":{more}')

    def _kept(self) -> bytes:
        """What the client notes of the files that it could put back."""
        files = ",".join(
            f'{json.dumps(path)}:{{"backupFileName":"{self.rng.getrandbits(64):016x}@v1","version":1}}'
            for path in self.rng.sample(self.maker.paths, 8)
        )
        return (
            f'{{"type":"file-history-snapshot","messageId":"{self.before}","snapshot":{{"trackedFileBackups":{{{files}'
            '}},"isSnapshotUpdate":false}\n'
        ).encode()

    def _progress(self) -> bytes:
        """What it shows while a tool runs."""
        data = f'{{"type":"hook_progress","hookEvent":"PostToolUse","command":{json.dumps(self.words.text(20, 60))}}}'
        return self._record("progress", "{}", f',"data":{data},"toolUseID":"toolu_{self.rng.getrandbits(96):024x}"')

    def _answer(self, block: str) -> bytes:
        usage = (
            f'{{"input_tokens":{self.rng.randrange(9)},"cache_creation_input_tokens":{self.rng.randrange(5_000)},'
            f'"cache_read_input_tokens":{self.rng.randrange(90_000)},"output_tokens":{self.rng.randrange(900)},'
            '"service_tier":"standard"}'
        )
        message = (
            f'{{"id":"msg_{self.rng.getrandbits(96):024x}","type":"message","role":"assistant","model":"model-1",'
            f'"content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}'
        )
        return self._record("assistant", message, f',"requestId":"req_{self.rng.getrandbits(96):024x}"')

    def _record(self, kind: str, message: str, more: str) -> bytes:
        self.records += 1
        self.now += timedelta(seconds=2 + self.rng.random() * 20)
        raw = f"{self.rng.getrandbits(128):032x}"
        uuid = f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-8{raw[17:20]}-{raw[20:]}"
        parent, self.before = json.dumps(self.before or None), uuid
        at = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return (
            f'{{"parentUuid":{parent},{self.head},"type":"{kind}","message":{message},"uuid":"{uuid}",'
            f'"timestamp":"{at}"{more}}}\n'
        ).encode()


def _long(line: bytes, size: int) -> bytes:
    """A line of `size` bytes: a record with a text that no line should have."""
    head = line.rstrip(b"}\n")
    tail = b"}" * (len(line) - 1 - len(head))
    return head + b"," * head.endswith(b'"') + b'"image":"' + b"A" * (size - len(line)) + b'"' + tail + b"\n"
