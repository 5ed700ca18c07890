"""The review on the whole screen: one candidate at a time, the keys at the bottom, long texts scroll."""

from __future__ import annotations

import os
from typing import Any

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import line_of, paint
from backstory.surfaces.cli.entries import full
from backstory.surfaces.cli.full_screen import Terminal, fold, folded, size
from backstory.surfaces.cli.reviewing import beside, ending, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project
    from backstory.project.reviewing import Candidate, Decision
    from backstory.records.event import By

_SCROLL = {"j": 1, "down": 1, "k": -1, "up": -1}


class Screen:
    """One run over `ids`."""

    def __init__(self, project: Project, by: By, ids: list[str]) -> None:
        from backstory.project.reviewing import Review

        self.project, self.ids = project, ids
        self.review = Review(project, by)
        self.place = self.top = 0
        self.around = False
        self.said = ""
        self.now: Candidate | None = None
        self.terminal = Terminal()

    def run(self) -> str:
        """Until `q`, the end of input or Ctrl-C; the line that sums up."""
        self._go(0)
        with self.terminal:
            while True:
                self._draw()
                key = self.terminal.key()
                if key in ("q", "eof"):
                    break
                try:
                    self._press(key)
                except BackstoryError as error:
                    self.said = f"{error.message} {error.hint}"
        return ending(self.project, self.review, self.ids)

    def _go(self, place: int) -> None:
        """Show the first one from `place` on that still waits; the end when there is none."""
        from backstory.project.reviewing import WAITS, candidate

        self.now, self.top, self.around = None, 0, False
        for number in range(place, len(self.ids)):
            one = candidate(self.project, self.ids[number])
            if one.standing in WAITS:
                self.now, self.place = one, number
                return
        self.place = len(self.ids)

    # -- what is shown

    def _draw(self, asking: str | None = None) -> None:
        columns, rows = size()
        keys = folded([asking if asking is not None else self._keys()], columns)
        said = fold(line_of(self.said), columns)[:2] if self.said and asking is None else []
        title = "End of the queue" if self.now is None else f"Review {self.place + 1} of {len(self.ids)}"
        body = folded(self._body(), columns)
        room = max(1, rows - 1 - len(keys) - len(said))
        self.top = max(0, min(self.top, len(body) - room))
        more = f", lines {self.top + 1}-{min(len(body), self.top + room)} of {len(body)}" if len(body) > room else ""
        shown = body[self.top : self.top + room]
        head = paint(f"{title}, {self.review.decided} decided{more}", "bold")
        self.terminal.draw([head, *shown, *[""] * (room - len(shown)), *said, *keys])

    def _body(self) -> list[str]:
        one = self.now
        if one is None:
            return ["", "Nothing more waits. u takes the last decision back, q ends."]
        if self.around:
            return [*places(one, whole=True)] or ["  No transcript is known for it."]
        return [*full(one), *places(one, whole=False), *beside(one)]

    def _keys(self) -> str:
        if self.now is None:
            return "u undo  q quit"
        first = "a stands  b both" if self.now.contested_with else "a approve"
        merge = "  m merge" if self.now.similar else ""
        around = "o back" if self.around else "o around"
        return f"{first}  e edit  r reject{merge}  s skip  u undo  {around}  j/k scroll  q quit"

    # -- keys

    def _press(self, key: str) -> None:
        page = max(1, size()[1] - 4)
        jumps = {"page down": page, " ": page, "page up": -page, "home": -1_000_000, "end": 1_000_000, **_SCROLL}
        if key in jumps:
            self.top = max(0, self.top + jumps[key])
            return
        if key == "resized":
            return
        self.said = ""
        if key == "u":
            self._undo()
        elif self.now is None:
            self.said = "Press u or q."
        elif key == "o":
            self.around, self.top = not self.around, 0
        else:
            decision = self._decide(key.lower(), self.now)
            if decision is not None:
                more = "; ".join(decision.outcome.notes) if decision.outcome else ""
                self.said = f"{decision.what}{f': {more}' if more else ''}"
                self._go(self.place + 1)

    def _undo(self) -> None:
        last = self.review.undo()
        if last is None:
            self.said = "Nothing was decided yet."
            return
        self._go(self.ids.index(last.id))
        self.said = f"taken back: {last.what}"

    def _decide(self, key: str, one: Candidate) -> Decision | None:
        if key == "a":
            return self.review.approve(one.id)
        if key == "b" and one.contested_with:
            return self.review.both(one.id)
        if key == "s":
            return self.review.skip(one.id)
        if key == "r":
            reason = self._line("Why is it wrong? ")
            if reason:
                return self.review.reject(one.id, reason)
            self.said = "Nothing was rejected: a rejection needs a reason."
        elif key == "e":
            return self._edit(one)
        elif key == "m" and one.similar:
            return self._merge(one)
        else:
            self.said = "Press one of the keys below."
        return None

    def _merge(self, one: Candidate) -> Decision | None:
        self._draw(f"Merge with which similar entry? 1-{len(one.similar)} ")
        key = self.terminal.key()
        if key.isdecimal() and 1 <= int(key) <= len(one.similar):
            return self.review.merge(one.id, one.similar[int(key) - 1].id)
        self.said = "Nothing was merged."
        return None

    def _edit(self, one: Candidate) -> Decision | None:
        detail = str(one.fields.get("detail", ""))
        if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
            summary, _, rest = self._in_editor(f"{one.summary}\n\n{detail}".rstrip() + "\n").strip().partition("\n")
        else:
            summary, rest = self._line("New text: ", one.summary), detail
        rest = rest.strip()
        if not summary.strip() or (summary.strip(), rest) == (one.summary, detail.strip()):
            self.said = "Nothing was changed."
            return None
        fields: dict[str, Any] = {"detail": rest} if rest else {}
        return self.review.edit(one.id, summary.strip(), fields)

    def _in_editor(self, text: str) -> str:
        """What the person's editor made of `text`; "" when it was left without saving, or did not start."""
        self.terminal.leave()
        try:
            return click.edit(text, require_save=True) or ""
        except click.ClickException as error:
            raise BackstoryError(error.message, hint="Set EDITOR to an editor that exists.") from error
        finally:
            self.terminal.enter()

    def _line(self, question: str, text: str = "") -> str:
        """A line that the person types, at first `text`; "" when it was left with escape."""
        while True:
            columns, rows = size()
            # Of a long line its end is shown.
            room = columns * max(1, rows // 3) - len(question) - 2
            self._draw(f"{question}{line_of(text)[-room:]}_")
            key = self.terminal.key()
            if key in ("escape", "eof"):
                return ""
            if key == "enter":
                return text.strip()
            if key in ("back", "clear"):
                text = text[:-1] if key == "back" else ""
            elif len(key) == 1:
                text += key
