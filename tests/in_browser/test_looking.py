"""Every view in a real browser: nothing loads from elsewhere, nobody is shut out, and stored text stays text."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.in_browser.conftest import VIEWS, Page, faults
from tests.project.memory import AGENT, HOOK, PERSON, Memory

Serve = Callable[[Memory], Page]

LIGHT, DARK = {"color_scheme": "light"}, {"color_scheme": "dark"}
PHONE = {"viewport": {"width": 390, "height": 800}}
# What would do something if it were anything but text.
HOSTILE = {
    "script": "<script>window.hit = 1</script>",
    "handler": '"><img src=x onerror="window.hit = 1">',
    "svg": '<svg onload="window.hit = 1"><a href="javascript:window.hit=1">go</a></svg>',
    "link": "[go](javascript:window.hit=1) ![seen](http://203.0.113.9/pixel.png) <http://203.0.113.9/>",
    "attribute": "' onmouseover='window.hit = 1' x='",
    "template": "{{ 7 * 191 }} {% for x in y %} ${7 * 191}",
    "bidi": "read \u202ethgir ot tfel\u202c then \u2066here\u2069",
    "long": "W" * 280,
    "entity": "&lt;b&gt; &amp; &#60;script&#62;",
}


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """Something of everything."""
    issue = memory.add("issue", "The nightly hangs", PERSON, location="src/pool.py")
    memory.add("decision", "Chose WAL mode", PERSON, rationale="readers go on", files=["src/wal.py"])
    memory.add(
        "trial", "Pool of fifty", outcome="failed", failure_mode="no handles", issue=issue, files=["src/pool.py"]
    )
    memory.add("hotfile", "Breaks the nightly", PERSON, path="src/pool.py")
    memory.add("fix", "Locks in order of ids", PERSON, issue=issue, location="src/pool.py")
    old = memory.add("decision", "Deploy on Friday", AGENT)
    memory.add("decision", "Deploy on Monday", AGENT, supersedes=[old])
    memory.add("decision", "Use one lock for the pool", HOOK, files=["src/pool.py"])
    memory.act("retire", memory.add("note", "An old remark"), AGENT, reason="over and done")
    memory.add("decision", "Retry a lost connection three times", PERSON, files=["src/wal.py"])
    memory.add("decision", "Never retry a lost connection", AGENT, files=["src/wal.py"])
    return memory


@pytest.fixture
def hostile(memory: Memory) -> Memory:
    """Every kind and every field with text that wants to be more than text."""
    for name, text in HOSTILE.items():
        issue = memory.add("issue", text, PERSON, location="src/pool.py", detail=text)
        memory.add("decision", f"{name} {text}", AGENT, rationale=text, detail=text, files=["src/pool.py"])
        memory.add("trial", f"{name} {text}", AGENT, outcome="failed", failure_mode=text, issue=issue)
        memory.add("pattern", f"{name} {text}", PERSON, name=text[:80], description=text)
        memory.add("hypothesis", f"{name} {text}", AGENT, issue=issue)
        memory.add("hotfile", f"{name} {text}", PERSON, path="src/pool.py")
        memory.add("decision", f"waits {name} {text}", HOOK, detail=text)
        memory.act("reject", memory.add("note", f"no {name} {text}", AGENT), PERSON, reason=text)
    return memory


@pytest.mark.parametrize("how", [LIGHT, DARK, PHONE], ids=["light", "dark", "phone"])
def test_no_view_has_a_serious_fault_scrolls_sideways_or_asks_anything_of_another(
    filled: Memory, serve: Serve, how: dict[str, object]
) -> None:
    page = serve(filled)
    tab = page.visit(**how)
    found = {}
    tab.goto(f"{page.origin}/entries")
    entry = tab.locator("main a.id").first.get_attribute("href")
    for view in [*VIEWS, entry, "/file/src/pool.py"]:
        answer = tab.goto(page.origin + view)
        assert answer.status == 200, view
        assert tab.title() and tab.locator("h1").count() == 1, view
        if problems := faults(tab):
            found[view] = problems
        if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[view] = [*found.get(view, []), "scrolls sideways"]
    assert found == {}
    page.quiet()


def test_the_check_for_faults_finds_one(filled: Memory, serve: Serve) -> None:
    tab = serve(filled).visit()
    assert faults(tab) == []
    tab.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [fault.split(":")[0] for fault in faults(tab)] == ["button-name"]


def test_hostile_text_in_every_field_shows_as_text(hostile: Memory, serve: Serve) -> None:
    page = serve(hostile)
    tab = page.visit(**PHONE)
    seen = ""
    found: list[str] = []
    for view in [*VIEWS, "/entries?show=all&page=2", "/file/src/pool.py"]:
        assert tab.goto(page.origin + view).status == 200, view
        seen += tab.inner_text("body")
        assert tab.evaluate("window.hit") is None, view
        assert made_by_text(tab) == [], view
        assert not tab.evaluate("document.documentElement.scrollWidth > innerWidth"), view
        found += tab.evaluate("[...document.querySelectorAll('main a.id')].map((e) => e.getAttribute('href'))")
    entries = {address for address in found if address.startswith("/entry/")}
    assert len(entries) > 20
    for address in sorted(entries):
        assert tab.goto(page.origin + address).status == 200
        assert tab.evaluate("window.hit") is None
        seen += tab.inner_text("body")
    for text in (HOSTILE["script"], HOSTILE["link"], HOSTILE["template"], HOSTILE["entity"], "W" * 60):
        assert text in seen
    assert "1337" not in seen and not set("\u202e\u2066\u202c\u2069") & set(seen)
    page.quiet()


def made_by_text(tab: Any) -> list[str]:
    """Elements, attributes and addresses that the page itself does not write."""
    found: list[str] = tab.evaluate(
        "[...document.querySelectorAll('*')].filter((e) => e.matches('script:not([src]), main img, main iframe')"
        " || [...e.attributes].some((a) => a.name.startsWith('on')"
        " || /^\\s*(javascript|data|https?):/i.test(a.value))).map((e) => e.outerHTML)"
    )
    return found


@pytest.mark.parametrize("name", ["script", "handler", "svg"])
def test_the_check_for_hostile_text_finds_it_where_it_is_not_escaped(memory: Memory, serve: Serve, name: str) -> None:
    tab = serve(memory).visit()
    assert made_by_text(tab) == []
    tab.evaluate("(text) => { document.querySelector('main').innerHTML = '<p title=\"' + text; }", HOSTILE["handler"])
    assert made_by_text(tab)
    tab.evaluate("(text) => { document.querySelector('main').innerHTML = text; }", HOSTILE[name])
    assert made_by_text(tab)


def test_without_javascript_every_view_is_there_to_read_and_a_decision_can_be_made(
    filled: Memory, serve: Serve
) -> None:
    page = serve(filled)
    tab = page.visit(java_script_enabled=False)
    for view in VIEWS:
        assert tab.goto(page.origin + view).status == 200
        assert tab.inner_text("main").strip(), view
    tab.goto(f"{page.origin}/review")
    assert "Use one lock for the pool" in tab.inner_text("main")
    tab.click("button.main")
    assert "1 decided here" in tab.inner_text("main")
    page.quiet()


def test_the_page_brings_itself_up_to_date_and_not_under_ones_hands(filled: Memory, serve: Serve) -> None:
    page = serve(filled)
    tab = page.visit("/entries")
    page.run("note", "Arrived while somebody looked")
    tab.wait_for_selector("text=Arrived while somebody looked", timeout=20_000)
    tab.focus("#q")
    tab.keyboard.type("half a word")
    page.run("note", "Arrived while somebody typed")
    with tab.expect_response("**/live", timeout=20_000):
        pass
    tab.wait_for_timeout(500)
    assert tab.input_value("#q") == "half a word" and "somebody typed" not in tab.inner_text("main")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("text=Arrived while somebody typed", timeout=20_000)
    page.quiet()


def test_the_page_says_when_nobody_serves_it_any_more(filled: Memory, serve: Serve) -> None:
    page = serve(filled)
    tab = page.visit()
    page.stop()
    tab.wait_for_selector("text=not being served any more", timeout=20_000)
