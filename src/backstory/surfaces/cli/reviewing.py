"""The walk through what waits for a person: one entry, one key, until the queue is done."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import clean, line_of, paint, say, say_all, wrap
from backstory.surfaces.cli.entries import entry_line, full
from backstory.surfaces.cli.recording import notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View
    from backstory.project.gateway import Outcome
    from backstory.project.opened import Project
    from backstory.records.event import By

_WAITS = ("proposed", "contested")


class Review:
    """One run. `last` takes the latest decision back, where an operation for that exists."""

    def __init__(self, project: Project, by: By) -> None:
        self.project, self.by = project, by
        self.last: tuple[int, str, Callable[[], Outcome] | None] | None = None
        self.place = 0
        self.decided = 0

    def walk(self, ids: list[str]) -> None:
        """Show what waits one after the other. Ends at the end, at `q`, and when the input ends."""
        shown = ""
        while self.place < len(ids) or self._think_again():
            view = self._view(ids[self.place])
            # What was settled meanwhile, as the other side of one that was decided, is passed over.
            if view.standing in _WAITS:
                if shown != view.id:
                    self._show(view, self.place + 1, len(ids))
                shown = view.id
                step = self._ask(view)
                if step is None:
                    break
                shown = shown if step == 0 else ""
                self.place += step
            else:
                self.place += 1
        left = sum(self._view(id_).standing in _WAITS for id_ in ids)
        say(f"{self.decided} decided, {left} left.")

    def _view(self, id_: str) -> View:
        from backstory.project.answers import one_view

        return one_view(self.project, id_)

    def _think_again(self) -> bool:
        """At the end: whether the person takes the last decision back."""
        if self.last is None or self.last[2] is None:
            return False
        say()
        say("That was the last one. [u]ndo, or any other key to end ?")
        if _key() != "u":
            return False
        self._undo()
        return True

    def _show(self, view: View, number: int, total: int) -> None:
        say()
        say(paint(f"--- {number} of {total} ---", "dim"))
        say_all(full(view))
        for id_ in view.contested_with:
            say(entry_line(self._view(id_), f"  {paint('against', 'yellow')} "))

    def _ask(self, view: View) -> int | None:
        """How far to go on: 1 for decided or skipped, 0 to ask again, None to stop."""
        both = bool(view.contested_with)
        first = "[a] this one stands  [b] both stand" if both else "[a]pprove"
        say(f"{first}  [r]eject  [e]dit  [s]kip  [u]ndo  [q]uit ?")
        key = _key()
        steps = {"a": self._approve, "b": self._both if both else None, "r": self._reject, "e": self._edit}
        if key == "q":
            return None
        if key == "s":
            return 1
        if key == "u":
            return self._undo()
        step = steps.get(key)
        if step is None:
            say("Press one of the letters in brackets.")
            return 0
        try:
            return 1 if step(view) else 0
        except BackstoryError as error:
            say(f"{error.message} {error.hint}")
            return 0

    def _done(self, outcome: Outcome, what: str, back: Callable[[], Outcome] | None = None) -> bool:
        self.decided += 1
        self.last = (self.place, what, back)
        say(f"  {what} ({outcome.standing})")
        say_all(notes(outcome))
        return True

    def _operate(self, action: str, id_: str, **extra: object) -> Outcome:
        from backstory.project.operations import operate

        return operate(self.project, self.by, action, id_, **extra)  # type: ignore[arg-type]

    def _approve(self, view: View) -> bool:
        if not view.contested_with:
            return self._done(self._operate("approve", view.id), f"approved {view.short}")
        for other in view.contested_with:
            outcome = self._operate("resolve", view.id, over=other)
        return self._done(outcome, f"{view.short} stands")

    def _both(self, view: View) -> bool:
        for other in view.contested_with:
            outcome = self._operate("resolve", view.id, over=other, both=True)
        return self._done(outcome, f"{view.short} and the other side stand")

    def _reject(self, view: View) -> bool:
        reason = _line("Why is it wrong?")
        if not reason:
            say("  nothing was rejected: a rejection needs a reason")
            return False
        back = lambda: self._operate("lift", view.id, reason="undone in review")  # noqa: E731
        return self._done(self._operate("reject", view.id, reason=reason), f"rejected {view.short}", back)

    def _edit(self, view: View) -> bool:
        from backstory.project.succession import supersede

        say(f"  now: {wrap(line_of(view.summary), 7, 7)}")
        text = _line("New text:")
        if not text:
            say("  nothing was changed")
            return False
        outcome = supersede(self.project, self.by, view.id, text)
        return self._done(outcome, f"replaced {view.short} by {outcome.id[-6:]}")

    def _undo(self) -> int:
        if self.last is None:
            say("  nothing was decided yet")
            return 0
        place, what, back = self.last
        if back is None:
            say(f"  {clean(what)}: no operation takes that back; `backstory retire` ends what does not hold")
            return 0
        back()
        self.last, self.place, self.decided = None, place, self.decided - 1
        say(f"  taken back: {clean(what)}")
        return 0


def _key() -> str:
    """The key that was pressed; `q` for the end of input, "" for one that is no letter (an arrow, escape)."""
    try:
        import termios
        import tty
    except ImportError:
        return click.getchar().lower()
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    try:
        # Not `click.getchar`: it throws away what was typed while the last answer was being written.
        tty.setcbreak(handle, termios.TCSADRAIN)
        pressed = os.read(handle, 1)
        while pressed.startswith(b"\x1b") and select.select([handle], [], [], 0.05)[0]:
            pressed += os.read(handle, 32)
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
    if pressed in (b"", b"\x04"):
        return "q"
    key = pressed.decode("ascii", "replace").lower() if len(pressed) == 1 else ""
    say(f"  {key}" if key.isprintable() else "")
    return key


def _line(question: str) -> str:
    """A line that the person types; "" for none."""
    try:
        return str(click.prompt(f"  {question}", default="", show_default=False, prompt_suffix=" ")).strip()
    except click.Abort:
        return ""
