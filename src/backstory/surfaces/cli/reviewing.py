"""The walk through what waits for a person: one entry, one key, until the queue is done."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import clean, line_of, paint, say, say_all, shown_width, wrap
from backstory.surfaces.cli.entries import full
from backstory.surfaces.cli.recording import notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.opened import Project
    from backstory.project.reviewing import Candidate, Clash, Decision, Review
    from backstory.records.event import By


class Walk:
    """One run, a line at a time."""

    def __init__(self, project: Project, by: By) -> None:
        from backstory.project.reviewing import Review

        self.project, self.review = project, Review(project, by)
        self.ids: list[str] = []
        self.place = 0

    def walk(self, ids: list[str]) -> None:
        """Show what waits one after the other. Ends at the end, at `q`, and when the input ends."""
        from backstory.project.reviewing import WAITS, candidate

        self.ids, shown = ids, ""
        while self.place < len(ids) or self._think_again():
            one = candidate(self.project, ids[self.place])
            # What was settled meanwhile, as the other side of one that was decided, is passed over.
            if one.standing in WAITS:
                if shown != one.id:
                    self._show(one, self.place + 1)
                shown = one.id
                step = self._ask(one)
                if step is None:
                    break
                shown = shown if step == 0 else ""
                self.place += step
            else:
                self.place += 1
        say(ending(self.project, self.review, ids))

    def _think_again(self) -> bool:
        """At the end: whether the person takes the last decision back."""
        if not self.review.done:
            return False
        say()
        say("That was the last one. [u]ndo, or any other key to end ?")
        if _key() != "u":
            return False
        self.place += self._undo()
        return True

    def _show(self, one: Candidate, number: int) -> None:
        say()
        say(paint(f"--- {number} of {len(self.ids)} ---", "dim"))
        say_all(full(one))
        say_all(places(one, whole=False))
        say_all(beside(one))

    def _ask(self, one: Candidate) -> int | None:
        """How far to go on: 1 for decided or skipped, 0 to ask again, None to stop."""
        both = bool(one.contested_with)
        first = "[a] this one stands  [b] both stand" if both else "[a]pprove"
        merge = "  [m]erge" if one.similar else ""
        around = "  ar[o]und" if one.comes_from else ""
        say(wrap(f"{first}  [r]eject  [e]dit{merge}{around}  [s]kip  [u]ndo  [q]uit ?", 0))
        key = _key()
        if key == "q":
            return None
        if key == "u":
            return self._undo()
        if key == "o" and one.comes_from:
            say_all(places(one, whole=True))
            return 0
        try:
            decision = self._decide(key, one, both)
        except BackstoryError as error:
            say(f"{error.message} {error.hint}")
            return 0
        if decision is None:
            return 0
        if decision.outcome is not None:
            say(f"  {decision.what} ({decision.outcome.standing})")
            say_all(notes(decision.outcome))
        return 1

    def _decide(self, key: str, one: Candidate, both: bool) -> Decision | None:
        if key == "a":
            return self.review.approve(one.id)
        if key == "b" and both:
            return self.review.both(one.id)
        if key == "s":
            return self.review.skip(one.id)
        if key == "r":
            return self._with_line("Why is it wrong?", "a rejection needs a reason", one, self.review.reject)
        if key == "e":
            say(f"  now: {wrap(line_of(one.summary), 7, 7)}")
            return self._with_line("New text:", "no text was given", one, self.review.edit)
        if key == "m" and one.similar:
            return self._merge(one)
        say("Press one of the letters in brackets.")
        return None

    def _with_line(
        self, question: str, without: str, one: Candidate, do: Callable[[str, str], Decision]
    ) -> Decision | None:
        text = _line(question)
        if not text:
            say(f"  nothing was changed: {without}")
            return None
        return do(one.id, text)

    def _merge(self, one: Candidate) -> Decision | None:
        say(f"  merge with which? [1-{len(one.similar)}]")
        key = _key()
        if not key.isdecimal() or not 1 <= int(key) <= len(one.similar):
            say("  nothing was merged")
            return None
        return self.review.merge(one.id, one.similar[int(key) - 1].id)

    def _undo(self) -> int:
        last = self.review.undo()
        if last is None:
            say("  nothing was decided yet")
            return 0
        say(f"  taken back: {clean(last.what)}")
        return self.ids.index(last.id) - self.place


def ending(project: Project, review: Review, ids: list[str]) -> str:
    """The last line of a run."""
    from backstory.project.answers import one_view
    from backstory.project.reviewing import WAITS

    left = sum(one_view(project, id_).standing in WAITS for id_ in ids)
    return f"{review.decided} decided, {left} left."


def beside(one: Candidate) -> Iterator[str]:
    """What it clashes with, and what resembles it, numbered for a merge."""
    for clash in one.against:
        word = "against" if clash.sign == "contested" else "clashes with"
        yield _clash(paint(word, "yellow"), clash)
    for number, clash in enumerate(one.similar, 1):
        yield _clash(paint(f"similar {number}", "green"), clash)


def _clash(label: str, clash: Clash) -> str:
    head = f"  {label} {clash.id[-6:]} ({clash.standing})  "
    return head + wrap(line_of(clash.summary), 4, shown_width(head))


def places(one: Candidate, *, whole: bool) -> Iterator[str]:
    """Where it comes from in transcripts, with the text around it when `whole`."""
    for place in one.comes_from:
        where = f"session {place.session[:12]}" + (f", turn {place.turn}" if place.turn else "")
        state = "" if place.state == "here" else f" [{place.state}]"
        head = f"  {paint('evidence', 'dim')} {line_of(where + state)}"
        yield head + (f": {wrap(line_of(place.shows), 4, shown_width(head) + 2)}" if place.shows else "")
        for who, text in place.lines if whole else ():
            yield f"    {paint(line_of(who), 'dim')} {wrap(line_of(text), 6, 5 + len(who))}"


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
