"""Streams of transcripts built by hand, and the stories that they tell."""

from __future__ import annotations

import os
from collections.abc import Callable

from backstory.project.capture.candidate import Candidate
from backstory.project.capture.detectors import known
from backstory.project.capture.story import Story
from backstory.project.capture.telling import story_of
from backstory.sources.transcripts import stream

ROOT = "/home/dev/shop"


class Owner:
    """Owns one folder, by its name alone."""

    def owns(self, folder: str) -> bool:
        return folder == ROOT or folder.startswith(ROOT + "/")

    def relative(self, path: str, cwd: str) -> str:
        whole = os.path.normpath(os.path.join(cwd, path))
        return os.path.relpath(whole, ROOT) if whole.startswith(ROOT + "/") else ""


class Telling:
    """Writes a stream as a reader would. Each record stands 100 bytes behind the one before."""

    def __init__(self, session: str = "s1", cwd: str = ROOT) -> None:
        self.items: list[stream.Item] = []
        self.calls = 0
        self.add(stream.Facts, session=session, cwd=cwd, branch="main")

    @property
    def offset(self) -> int:
        return 100 * len(self.items)

    def add(self, kind: type[stream.Item], **fields: object) -> Telling:
        self.items.append(kind(self.offset, 1_000_000 * len(self.items), **fields))  # type: ignore[arg-type]
        return self

    def asked(self, text: str, key: str = "") -> Telling:
        return self.add(stream.UserText, text=text, key=key)

    def said(self, text: str) -> Telling:
        return self.add(stream.AssistantText, text=text)

    def call(self, does: str, **fields: object) -> str:
        self.calls += 1
        self.add(stream.Call, call=f"c{self.calls}", tool="tool", does=does, **fields)
        return f"c{self.calls}"

    def ran(
        self, command: str, outcome: str = "ok", output: str = "", code: int | None = None, cwd: str = ""
    ) -> Telling:
        call = self.call("shell", command=command, cwd=cwd)
        return self.add(stream.Result, call=call, outcome=outcome, text=output, code=code)

    def failed(self, command: str, output: str = "AssertionError: 1 != 2", code: int | None = 1) -> Telling:
        return self.ran(command, "error", output, code)

    def edited(self, path: str, old: str | None = "a = 1", new: str = "a = 2", outcome: str = "ok") -> Telling:
        call = self.call("edit", paths=(path,))
        self.add(stream.Edit, call=call, path=path, old=old, new=new, whole=old is None)
        return self.add(stream.Result, call=call, outcome=outcome, text="done")

    def refused(self, reason: str, command: str = "", path: str = "") -> Telling:
        call = self.call("shell" if command else "edit", command=command, paths=(path,) if path else ())
        if path:
            self.add(stream.Edit, call=call, path=path, old="a", new="b")
        self.add(stream.Rejection, call=call, reason=reason)
        return self.add(stream.Result, call=call, outcome="error", text="The user doesn't want to proceed")

    def story(self, is_copy: Callable[[str], bool] = lambda key: False) -> Story:
        return story_of(self.items, Owner(), client="claude-code", is_copy=is_copy)

    def found(self, detector: str = "") -> list[Candidate]:
        return [one for one in known.all_of(self.story()) if not detector or one.detector == detector]

    def summaries(self, detector: str = "") -> list[str]:
        return [one.fields["summary"] for one in self.found(detector)]
