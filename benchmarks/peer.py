"""projectmem 0.3.4, measured beside: installed in an environment of its own, fed with the same events."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from backstory.config import load
from backstory.log.names import files
from backstory.records.codec import Fields, read_fields
from benchmarks.generate import Made
from benchmarks.report import say

VERSION = "0.3.4"
_KINDS = {"decision": "decision", "trial": "attempt", "issue": "issue", "fix": "fix", "hypothesis": "hypothesis"}
_OPTIONS = ("--no-hooks", "--no-global", "--no-watch", "--no-backfill", "--no-claude-md", "--no-mcp-config")


@dataclass(frozen=True)
class Peer:
    """The installed peer."""

    command: str

    def project(self, made: Made) -> Path:
        """A clone of the project with the peer's log instead of ours, made unless it is there."""
        root = made.root.parent / f"{made.events}-projectmem"
        if not root.exists():
            subprocess.run(["git", "clone", "-q", str(made.root), str(root)], check=True)
            shutil.rmtree(root / ".backstory")
            subprocess.run(
                [self.command, "init", *_OPTIONS], cwd=root, check=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            with (root / ".projectmem" / "events.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _events(made))
        return root


def find() -> Peer | None:
    """The peer, installed when it is not there yet; None, and a word about it, when it cannot be."""
    base = Path(os.environ.get("BENCHMARKS_CACHE") or Path.home() / ".cache") / "backstory-benchmarks"
    folder = base / f"projectmem-{VERSION}"
    command = folder / ("Scripts" if os.name == "nt" else "bin") / "pjm"
    if not command.exists():
        say(f"  installing projectmem {VERSION} in {folder}")
        try:
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            pip = [str(command.parent / "python"), "-m", "pip", "install", "-q", f"projectmem=={VERSION}"]
            subprocess.run(pip, check=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as error:
            say(f"  projectmem cannot be installed, so it is left out: {error}")
            return None
    return Peer(str(command))


def _events(made: Made) -> list[str]:
    """Our log in the peer's format. What it has no kind for becomes a note, so that both read as many events."""
    lines: list[str] = []
    issues: dict[str, str] = {}
    for path in files(load(str(made.root)).places.log_dir):
        for raw in Path(path).read_bytes().splitlines():
            fields = read_fields(raw)
            if fields["kind"] == "issue":
                issues[fields["id"]] = f"{len(issues) + 1:04d}"
            lines.append(json.dumps(_event(fields, issues)))
    return lines


def _event(fields: Fields, issues: dict[str, str]) -> Fields:
    kind = _KINDS.get(fields["kind"], "note")
    texts = [fields.get(name, "") for name in ("rationale", "failure_mode", "why_hot", "description", "detail")]
    event = {
        "id": f"evt_{fields['id']}",
        "type": kind,
        "summary": fields.get("summary") or f"{fields['kind']}: {fields.get('reason', '')}",
        "timestamp": f"{fields['at'][:19]}Z",
    }
    notes = " ".join(text for text in texts if text)
    if notes:
        event["notes"] = notes
    if fields.get("supersedes"):
        event["supersedes"] = f"evt_{fields['supersedes'][0]}"
    if fields.get("commit"):
        event["git_commit"] = fields["commit"]
    issue = issues.get(fields["id"] if kind == "issue" else fields.get("issue", ""))
    if issue:
        event["issue_id"] = issue
    if kind == "attempt":
        event["outcome"] = fields.get("outcome", "failed")
    paths = [ref["path"] for ref in fields.get("files", ())]
    if paths:
        event["files"] = paths
        event["location"] = paths[0]
    return event
