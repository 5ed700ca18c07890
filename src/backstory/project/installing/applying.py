"""Carrying a plan out: first the earlier bytes are kept, then the file is written; all files or none."""

from __future__ import annotations

import os

from backstory.config import state_dir
from backstory.errors import BackstoryError, Exit
from backstory.log.lock import held
from backstory.project.installing import files, ledger
from backstory.project.installing.answers import SAME, Installation
from backstory.project.installing.planning import Plan, Step
from backstory.project.installing.undoing import says_nothing, without_ours

_Kept = tuple[ledger.Record, bytes | None] | None


def apply(plan: Plan) -> Installation:
    """Write what the plan says; `BackstoryError` when a file is not as it was when the plan was made.

    When one file cannot be written, those written before it are put back.
    """
    with held(os.path.join(state_dir(), "installed")):
        for step in plan.steps:
            if step.writes and files.read(step.target.path) != step.before:
                raise BackstoryError(
                    f"{step.target.name} changed while the preview was shown.",
                    hint="Nothing was written. Run the command again.",
                    code=Exit.REFUSED,
                )
        done: list[tuple[Step, _Kept, list[str]]] = []
        try:
            for step in plan.steps:
                known = ledger.read(step.target.path)
                if step.writes:
                    done.append((step, known, _write(step, known)))
                elif step.state == SAME and known is not None:
                    _join(step, *known)
        except BackstoryError:
            for step, known, folders in reversed(done):
                _take_back(step, known, folders)
            raise
    return plan.answer(applied=True)


def _write(step: Step, known: _Kept) -> list[str]:
    """Write one file; the folders that were made for it."""
    path = step.target.path
    record, before = _record(step, known)
    ledger.write(record, before)
    try:
        made = files.write(path, step.after or b"", executable=step.executable)
    except BackstoryError:
        _keep_again(path, known)
        raise
    if made:
        record.folders = made
        ledger.write(record, before)
    return made


def _record(step: Step, known: _Kept) -> tuple[ledger.Record, bytes | None]:
    """What to keep about a file: an installation over our own one keeps what stood there before the first."""
    before, clients, folders = step.before, list(step.target.clients), []
    if known is not None:
        record, earlier = known
        clients, folders = list(dict.fromkeys([*record.clients, *clients])), record.folders
        if ledger.digest(step.before) == record.after:
            before = earlier
        elif step.before is not None:
            # Somebody edited the file since: what counts as before is what it holds without us.
            before = without_ours(step.target, step.before, earlier)
            before = None if earlier is None and says_nothing(before, step.target) else before
    after = ledger.digest(step.after)
    return ledger.Record(step.target.path, ledger.digest(before), after, clients, folders), before


def _join(step: Step, record: ledger.Record, before: bytes | None) -> None:
    """Nothing to write, since another client's part is the same: the file is this client's as well."""
    clients = list(dict.fromkeys([*record.clients, *step.target.clients]))
    if clients != record.clients:
        record.clients = clients
        ledger.write(record, before)


def _take_back(step: Step, known: _Kept, folders: list[str]) -> None:
    try:
        if step.before is None:
            files.remove(step.target.path)
            files.drop_folders(folders)
        else:
            files.write(step.target.path, step.before)
        _keep_again(step.target.path, known)
    except BackstoryError:
        # The new record is kept, so `uninstall` can still do it.
        return


def _keep_again(path: str, known: _Kept) -> None:
    """The record as it was before this run."""
    if known is None:
        ledger.forget(path)
    else:
        ledger.write(*known)
