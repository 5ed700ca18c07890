"""What a project runs in: the images of a Dockerfile and the actions of its workflows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.sources.dependencies.contract import Told

_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.MULTILINE | re.IGNORECASE)
_USES = re.compile(r"^\s*(?:-\s*)?uses:\s*['\"]?([\w.-]+/[\w.-]+)(?:/[^@\s'\"]*)?@([^\s'\"#]+)", re.MULTILINE)


def dockerfile(text: str) -> Iterator[Told]:
    """The images that a Dockerfile starts from; stages of its own are none."""
    stages: set[str] = set()
    for image, stage in _FROM.findall(text):
        if stage:
            stages.add(stage.lower())
        plain = image.partition("@")[0]
        name, colon, tag = plain.rpartition(":")
        if "/" in tag or not colon:
            name, tag = plain, ""
        if "$" not in name and name.lower() not in stages and name != "scratch":
            yield Told("docker", name.removeprefix("docker.io/").removeprefix("library/"), tag)


def workflow(text: str) -> Iterator[Told]:
    """The actions that a workflow uses. A hash says nothing about the version."""
    for name, version in _USES.findall(text):
        yield Told("actions", name, "" if re.fullmatch(r"[0-9a-f]{40}", version) else version)
