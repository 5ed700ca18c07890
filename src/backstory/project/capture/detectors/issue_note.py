"""What was said or done about an issue: its number or address in a turn of the person, or in a commit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.story import Asked, Changed, Ran, Story
from backstory.project.capture.wording import listed, quoted, sentences, summary, unique
from backstory.records.hostile import one_line

NAME = "issue-note"
ACTIVE = False

LONGEST_TURN, LONGEST = 6_000, 600
_ISSUE = re.compile(
    r"https?://[\w.-]+/(?:[\w./-]+?/)?(?:issues?|browse)/(?P<url>[A-Z]+-\d+|\d+)"
    r"|(?<![\w/#&.-])#(?P<number>[1-9]\d{0,5})(?![\w#-])"
    r"|(?<![\w/.-])(?P<key>[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,5})(?![\w-])"
)
# Names of standards, encodings, models and the like, written as trackers write their keys.
_NO_KEY = re.compile(
    r"^(?:UTF|SHA|ISO|RFC|CVE|CWE|GPT|MD|AES|RSA|IEEE|HTTP|TLS|SSL|PEP|ES|EC|UTC|GMT|COVID|WIN|USB|HDMI|PCI|CPU"
    r"|GPU|RTX|GTX"
    r"|ECMA|ANSI|ASCII|CP|KOI|X|H|MP|IPV|IP|PM|AM|V|B|T|A|S|P|Q|PHASE|STEP|TASK|PART|OPTION|FEDORA|UBUNTU|DEBIAN"
    r"|RHEL|FN|DDR|SN|PL"
    r"|JUNE|MAY|JULY|VLAN|LTE|WPA|BT|M|R|Z|LLAMA|CLAUDE|GEMINI|OPUS|SONNET|HAIKU)-"
)
TURN_STEPS = 300
_MESSAGE = re.compile(
    r"(?:^|\s)(?:-a?m|--message)[= ]?\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')|<<-?\s*['\"]?(\w+)['\"]?\n(.*?)^\s*\3\s*$",
    re.S | re.M,
)
_REFERS = re.compile(
    r"(?i)^\W*(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|references|re|see|part of|issues?|addresses|implements)\b"
)
# A small number counts findings and steps as often as issues: it must be called one.
SMALL = 20
_CALLED = re.compile(r"(?i)\b(?:issue|bug|ticket|defect|gh|github|fix(?:e[sd])?|close[sd]?|resolve[sd]?)s?[\s:(]*$")
_NOT_ONE = re.compile(
    r"(?i)(?:\b(?:option|step|point|item|choice|question|number|phase|task|todo|part|bullet|line|page|chapter|finding"
    r"|image|screenshot|figure|pr|prs|pull request|pull|mr|merge request|colou?r|rank|top|answer|comment|test"
    r"|improvement)s?\s*"
    r"|\[image\s*)$"
)
_PASTED = re.compile(r"^\s*(?:#{1,6} |[>|$%+@<{\[]|\d+[:|]|at \S+\(|File \")|[{};]\s*$|\t")


def detect(story: Story) -> Iterator[Candidate]:
    """The notes about issues, one for each issue and turn, and one for each commit."""
    for number, step in enumerate(story.steps):
        if isinstance(step, Asked) and len(step.text) <= LONGEST_TURN:
            yield from _asked(story, step, number)
        elif isinstance(step, Ran) and step.outcome != "failed" and "git commit" in step.command:
            yield from _committed(story, step, number)


def _asked(story: Story, step: Asked, number: int) -> Iterator[Candidate]:
    seen: set[str] = set()
    for said in sentences(step.text):
        if len(said) > LONGEST or _PASTED.search(said):
            continue
        for issue in _issues(said):
            files = _changed_in_turn(story, number)
            # A number alone, or a task without what came of it, is no observation.
            if issue in seen or len(said.split()) < (4 if files else 9):
                continue
            seen.add(issue)
            done = f"; {listed(files)} {'were' if len(files) > 1 else 'was'} changed then" if files else ""
            yield _note(issue, f"{issue}: the person said {quoted(said)}{done}", step.text[:1_500], files,
                        Evidence(step.offset, f"{issue} named by the person"), step.at, 1.5)  # fmt: skip


def _committed(story: Story, step: Ran, number: int) -> Iterator[Candidate]:
    message = _MESSAGE.search(step.command)
    if message is None:
        return
    text = next((part for part in (message[1], message[2], message[4]) if part), "")
    subject = next((line.strip() for line in text.splitlines() if line.strip()), "")
    files = unique(_changed_before(story, number))
    # A number further down is often one that is merely talked about, and as often another project's.
    told = "\n".join([subject, *(line for line in text.splitlines() if _REFERS.match(line))])
    for issue in dict.fromkeys(_issues(told)):
        yield _note(issue, f"{issue}: committed {quoted(subject)}", text[:1_500], files,
                    Evidence(step.offset, f"{issue} named in a commit"), step.at, 2.0)  # fmt: skip


def _note(
    issue: str, told: str, observation: str, files: tuple[str, ...], evidence: Evidence, at: int | None, weight: float
) -> Candidate:
    fields: dict[str, object] = {"summary": summary(told), "issue": issue, "observation": one_line(observation, 1_500)}
    if files:
        fields["files"] = files
    return Candidate(NAME, "issuenote", fields, (evidence,), at, weight, f"issue:{issue}", issue)


def _issues(text: str) -> Iterator[str]:
    for found in _ISSUE.finditer(text):
        before = text[max(0, found.start() - 40) : found.start()]
        if found["number"]:
            if not _NOT_ONE.search(before) and (int(found["number"]) > SMALL or _CALLED.search(before)):
                yield f"#{found['number']}"
        elif found["url"]:
            yield found["url"] if "-" in found["url"] else f"#{found['url']}"
        elif found["key"] and not _NO_KEY.match(found["key"]):
            yield found["key"]


def _changed_in_turn(story: Story, number: int) -> tuple[str, ...]:
    files = []
    for step in story.steps[number + 1 : number + 1 + TURN_STEPS]:
        if isinstance(step, Asked):
            break
        if isinstance(step, Changed):
            files.append(step.path)
    return unique(files)


def _changed_before(story: Story, number: int) -> Iterator[str]:
    """The files changed since the commit before."""
    for step in reversed(story.steps[max(0, number - 300) : number]):
        if isinstance(step, Ran) and "git commit" in step.command:
            return
        if isinstance(step, Changed):
            yield step.path
