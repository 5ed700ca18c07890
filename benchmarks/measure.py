"""Runs processes and counts the CPU time that they and their children took.

Load from elsewhere lengthens waiting far more than CPU time, and it hits neighbours in time alike. So all that is
compared runs interleaved, in an order that changes from round to round, and the medians are compared.
"""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """What a process took, in milliseconds; `output` is what it wrote on stdout."""

    cpu: float
    wall: float
    output: bytes = b""


@dataclass(frozen=True)
class Command:
    """A process to measure. `{}` in an argument becomes a number that no other run has."""

    name: str
    arguments: Sequence[str]
    folder: Path
    stdin: bytes = b""
    # Run in one of so many rounds: for what takes long.
    every: int = 1
    # Exit codes that are no failure.
    accept: tuple[int, ...] = (0,)
    environment: Mapping[str, str] = field(default_factory=dict)


class Failed(Exception):
    """A measured command failed, so its time means nothing."""


_number = 0


def run(command: Command) -> Usage:
    """Run once; `Failed` when the exit code is not accepted."""
    global _number  # noqa: PLW0603 (one counter for the process)
    _number += 1
    arguments = [argument.replace("{}", f"{os.getpid()}x{_number}") for argument in command.arguments]
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(command.stdin)
        stdin.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(
            arguments, cwd=command.folder, stdin=stdin, stdout=stdout, stderr=stderr,
            env={**os.environ, **command.environment},
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        stderr.seek(0)
        if process.returncode not in command.accept:
            said = stderr.read().decode("utf-8", "replace")[-2_000:]
            raise Failed(f"{' '.join(arguments)} ended with {process.returncode}:\n{said}")
        return Usage((used.ru_utime + used.ru_stime) * 1e3, wall * 1e3, stdout.read())


def interleave(commands: Sequence[Command], rounds: int) -> dict[str, list[Usage]]:
    """Run every command once to warm up, then `rounds` times, the order turned by one each round."""
    found: dict[str, list[Usage]] = {command.name: [] for command in commands}
    for command in commands:
        if command.every == 1:
            run(command)
    for number in range(rounds):
        turn = number % len(commands)
        for command in [*commands[turn:], *commands[:turn]]:
            if number % command.every == 0:
                found[command.name].append(run(command))
    return found


def cpu(usages: Sequence[Usage]) -> float:
    """The median CPU time in milliseconds."""
    return statistics.median(usage.cpu for usage in usages)


def wall(usages: Sequence[Usage]) -> float:
    """The median time from start to end in milliseconds."""
    return statistics.median(usage.wall for usage in usages)
