"""The log: every line read afresh, what is wrong with it, and what the journal can put back."""

from __future__ import annotations

import os

from backstory.config import Config
from backstory.log.append import finish_pending, has_pending
from backstory.log.lock import held
from backstory.project import repair
from backstory.project.doctoring.finding import Check
from backstory.project.setup import remember_twin
from backstory.project.verifying import Afresh, Report, report_of, verify


def checks(config: Config, read: Afresh) -> list[Check]:
    """What is wrong with log and journal, chains and all."""
    report = report_of(read)
    checks = [_log_summary(report)]
    for item in (*report.problems, *report.notes)[:20]:
        state = "bad" if item in report.problems else "advice"
        checks.append(Check("log", state, f"{item.file}, line {item.line}: {item.message}", item.fix))
    if len(report.problems) > 20:
        checks.append(
            Check("log", "bad", f"{len(report.problems) - 20} more problems", "`backstory verify` lists them")
        )
    if report.not_in_tree:
        message = f"{report.not_in_tree} events are only in this clone's journal"
        checks.append(Check("journal", "advice", message, "`backstory publish` brings chosen ones into this tree"))
    if not config.private and has_pending(config):
        checks.append(Check("pending", "advice", "a writer was killed half-way", "the next command finishes its work"))
    return checks


def _log_summary(report: Report) -> Check:
    text = f"{report.events} events in {report.files} files, {report.folded} duplicate lines folded"
    if report.sound:
        return Check("log", "good", text)
    return Check("log", "bad", f"{text}, {len(report.problems)} problems", "`backstory doctor --fix`")


def mended(config: Config, now: int) -> list[Check]:
    """Put back what can be put back; no readable event is ever removed."""
    checks = []
    if not config.private and has_pending(config):
        with held(config.places.shared_dir):
            finish_pending(config)
        checks.append(Check("pending", "fixed", "finished what a killed writer had begun"))
    for path in repair.remove_markers(config):
        checks.append(Check("log", "fixed", f"took the merge markers out of {os.path.basename(path)}"))
    report = verify(config, now)
    if any(item.why in ("lost", "committed", "prev", "hash", "order") for item in report.problems):
        for item in report.problems:
            name = item.file.removeprefix("log/").removesuffix(".jsonl")
            gone = item.file.startswith("log/") and not os.path.exists(
                os.path.join(config.places.log_dir, name + ".jsonl")
            )
            if item.why in ("lost", "committed") and gone and repair.restore_shard(config, name):
                checks.append(Check("log", "fixed", f"wrote {name} anew from the journal"))
        for path in repair.restore_lost_lines(config):
            checks.append(Check("log", "fixed", f"put back the journal's lines in {os.path.basename(path)}"))
    if any(item.why in ("journal", "rollback") for item in report.problems):
        checks.append(
            Check("heads", "fixed", "the store as it is now was accepted; what is gone cannot be put back here")
        )
    remember_twin(config)
    return checks
