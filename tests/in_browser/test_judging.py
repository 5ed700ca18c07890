"""Ten candidates are judged by keyboard alone, and the memory holds what was decided, by whom and why."""

import json
from collections.abc import Callable
from typing import Any

from tests.in_browser.conftest import Page
from tests.project.memory import HOOK, Memory

Serve = Callable[[Memory], Page]

WORDS = (
    "reads go to the replica", "logs carry the request id", "money is kept in cents", "times are in UTC",
    "retries are bounded by three", "uploads are scanned first", "names are compared folded",
    "the cache lives for an hour", "migrations run before the start", "errors are told to the caller",
)  # fmt: skip


class Reviewer:
    """Somebody who has no mouse, on the review of a page."""

    def __init__(self, page: Page, waiting: dict[str, str]) -> None:
        self.tab = page.visit("/review")
        self.waiting = waiting

    def current(self) -> str:
        """The id of the candidate that is shown."""
        text = self.tab.inner_text("article p.summary")
        return next(id_ for id_, words in self.waiting.items() if words == text)

    def press(self, *keys: str) -> None:
        """Press keys (or type what is no key's name) until the page answers."""
        with self.tab.expect_navigation():
            for key in keys:
                if len(key) == 1 or key == "Enter":
                    self.tab.keyboard.press(key)
                else:
                    self.tab.keyboard.type(key)

    def approve(self, _: str) -> None:
        self.press("a")

    def reject(self, id_: str) -> None:
        self.press("r", f"not so: {id_[-4:]}", "Enter")

    def replace(self, id_: str) -> None:
        self.press("e", f"In better words {id_[-4:]}", "Enter")

    def waver(self, id_: str) -> None:
        """Approve, undo, and approve again by somebody who knows no letter: Tab to the button, and Enter."""
        self.press("a")
        self.press("u")
        assert self.current() == id_, "what was undone waits again, and comes first"
        passed: list[str] = []
        while not passed or "Approve" not in passed[-1]:
            assert len(passed) < 80, passed
            self.tab.keyboard.press("Tab")
            passed.append(self.tab.evaluate("document.activeElement.innerText") or "")
        self.press("Enter")


def shown(page: Page, id_: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.run("show", id_, "--json"))["data"]["entry"]
    return data


def candidates(memory: Memory, count: int) -> dict[str, str]:
    made = [f"Candidate {n} {words}" for n, words in enumerate(WORDS[:count])]
    return {memory.add("decision", text, HOOK): text for text in made}


def test_ten_candidates_by_keyboard_alone(memory: Memory, serve: Serve) -> None:
    waiting = candidates(memory, 10)
    page = serve(memory)
    person = Reviewer(page, waiting)
    approve, reject, replace, waver = person.approve, person.reject, person.replace, person.waver
    decided = {}
    for step in (approve, reject, replace, approve, waver, reject, approve, replace, reject, approve):
        id_ = person.current()
        step(id_)
        decided[id_] = step.__name__
    said = person.tab.inner_text("main")
    assert len(decided) == 10 and "Nothing waits" in said and "10 decided here" in said
    became = {"approve": "confirmed", "waver": "confirmed", "reject": "rejected", "replace": "superseded"}
    for id_, step in decided.items():
        assert shown(page, id_)["standing"] == became[step], step
        if step == "reject":
            assert f"not so: {id_[-4:]}" in page.run("show", id_)
        if step == "replace":
            assert f"In better words {id_[-4:]}" in page.run("search", f"better words {id_[-4:]}")
    page.quiet()


def test_keys_are_letters_where_somebody_types_and_a_key_held_down_decides_once(memory: Memory, serve: Serve) -> None:
    waiting = candidates(memory, 3)
    page = serve(memory)
    tab = page.visit("/review")
    tab.keyboard.press("r")
    tab.keyboard.type("also bad as usual")
    assert tab.evaluate("document.activeElement.value") == "also bad as usual"
    tab.keyboard.press("Escape")
    assert "3 wait" in tab.inner_text("main")
    with tab.expect_navigation():
        for _ in range(6):
            tab.keyboard.down("a")
    tab.keyboard.up("a")
    tab.wait_for_load_state()
    assert "2 wait" in tab.inner_text("main")
    assert sorted(shown(page, id_)["standing"] for id_ in waiting) == ["confirmed", "proposed", "proposed"]
