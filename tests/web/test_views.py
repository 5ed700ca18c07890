"""Every view: it answers, tags what does not count, shows hostile text as text, and needs no script to be read."""

import re
from pathlib import Path

import pytest

from backstory.project.history.refresh import refresh
from backstory.project.sharing import sharing
from backstory.surfaces.web.app import VIEWS
from backstory.surfaces.web.asking import PER_PAGE
from tests.project.memory import AGENT, DAY, HOOK, PERSON, Memory
from tests.storekit import new_repo
from tests.web.client import Client, Html

LISTED = [view.path for view in VIEWS if "{" not in view.path]
HOSTILE = (
    "</title></main><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'><svg onload=alert(3)><a href='javascript:alert(4)'>",
    "[a link](javascript:alert(5)) ![](http://example.org/x.png)",
    "\u202egnirts\u202c \u2066idib\u2069 \x1b[31mred\x1b[0m {{ 7 * 7 }} {% raw %}",
    "w" * 280,
)


def whole(memory: Memory, ids: dict[str, str]) -> list[str]:
    """The address of each view, those of one thing included."""
    one = {"/entry/{id}": ids.values(), "/case/{id:path}": [ids["issue"]], "/file/{path:path}": ["src/pool.py", "src"]}
    return [*LISTED, *(re.sub(r"\{.*\}", "", view) + str(name) for view, names in one.items() for name in names)]


def assert_harmless(html: Html) -> None:
    """No element, handler or address but our own."""
    assert [attrs.get("src") for attrs in html.all("script")] == ["/static/page.js"]
    known = {name for name, _ in html.elements}
    assert not known & {"img", "iframe", "object", "embed", "base", "style", "foreignobject"}
    for name, attrs in html.elements:
        assert not [key for key in attrs if key.startswith("on") or key == "style"], (name, attrs)
        for key in ("href", "src", "action", "formaction", "xlink:href"):
            assert attrs.get(key, "/").startswith(("/", "#")) and not attrs.get(key, "/").startswith("//"), (
                name,
                attrs,
            )


@pytest.mark.parametrize("address", LISTED)
def test_a_view_of_an_empty_memory_says_so(page: Client, address: str) -> None:
    answer = page.get(address)
    assert answer.status == 200, answer.html.shown
    assert_harmless(answer.html)
    assert len(answer.html.all("h1")) == 1 and answer.html.all("main")


def test_every_view_answers_and_each_link_of_the_page_leads_somewhere(
    page: Client, memory: Memory, filled: dict[str, str]
) -> None:
    seen, todo = set(), whole(memory, filled)
    while todo:
        address = todo.pop()
        if address in seen or len(seen) > 150:
            continue
        seen.add(address)
        answer = page.get(address)
        assert answer.status == 200, (address, answer.html.shown)
        assert_harmless(answer.html)
        todo += [attrs["href"] for attrs in answer.html.all("a") if attrs["href"].startswith("/")]
    assert len(seen) > 30


def test_what_does_not_count_is_tagged_wherever_it_is_shown(
    page: Client, memory: Memory, filled: dict[str, str]
) -> None:
    said = {"retired": "An old remark", "rejected": "Use a global lock", "superseded": "Deploy on Friday"}
    shown = set()
    for address in [*whole(memory, filled), "/entries?standing=all", "/search?q=global+lock", "/search?q=deploy"]:
        lines = re.split(r"<li|<tr|<article", page.get(address).text)
        for standing, words in said.items():
            for line in lines:
                if words in line and "<title>" not in line:
                    assert standing in line, (address, line)
                    shown.add((standing, address.partition("?")[0]))
    assert {standing for standing, _ in shown} == set(said)
    assert {"/timeline", "/log", "/entries"} <= {address for _, address in shown}
    live = page.get("/entries").text
    assert not [words for words in said.values() if words in live] and "Chose WAL mode" in live


@pytest.mark.parametrize("hostile", HOSTILE, ids=["script", "handler", "svg", "markdown", "bidi", "long"])
def test_hostile_text_in_every_field_shows_as_text(page: Client, memory: Memory, hostile: str) -> None:
    text = hostile[:290]
    ids = {
        "note": memory.add("note", text, detail=f"{hostile}\n{hostile}", aliases=[hostile[:60]]),
        "decision": memory.add("decision", f"D {text}", PERSON, rationale=hostile, alternatives_rejected=[hostile]),
        "trial": memory.add("trial", f"T {text}", outcome="failed", failure_mode=hostile, command=hostile),
        "pattern": memory.add("pattern", f"P {text}", HOOK, name=text[:100], description=hostile, examples=[hostile]),
        "issue": memory.add("issue", f"I {text}", PERSON, location="src/pool.py"),
    }
    ids["issuenote"] = memory.add("issuenote", f"O {text}", issue=ids["issue"], observation=hostile)
    memory.act("retire", ids["note"], AGENT, reason=hostile[:200])
    words = max(re.findall(r"[a-z0-9]+", hostile), key=len)
    for address in [*whole(memory, ids), f"/search?q={words}", "/entries?standing=all"]:
        answer = page.get(address)
        assert answer.status == 200, (address, answer.html.shown)
        assert_harmless(answer.html)
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", answer.text), address
    assert words in page.get(f"/entry/{ids['decision']}").html.shown


def test_hostile_words_in_the_address_come_back_as_text(page: Client, filled: dict[str, str]) -> None:
    script = "%3Cscript%3Ealert(1)%3C/script%3E"
    queries = [f"/search?q={script}", f"/entries?words=%22%3E{script}", f"/entries?kind={script}", "/entries?page=-1"]
    queries += ["/entries?page=99999999999", f"/timeline?as_of={script}", f"/entry/{script}", f"/case/{script}"]
    for address in [*queries, f"/file/{script}", f"/session/{script}", "/file/../../etc/passwd"]:
        answer = page.get(address)
        assert answer.status in (200, 400, 404, 405, 409), (address, answer.status)
        assert_harmless(answer.html)
        assert "Traceback" not in answer.text and "fault of backstory" not in answer.text, address
    outside = page.get("/file/../../etc/passwd")
    assert outside.status != 200 and "root:" not in outside.text


def test_a_folder_that_is_gone_is_said_in_one_sentence(page: Client, memory: Memory) -> None:
    moved = memory.root.rename(memory.root.with_name("elsewhere"))
    answer = page.get("/")
    assert answer.status in (404, 500) and "fault of backstory" not in answer.text
    assert_harmless(answer.html)
    assert page.get("/live").status == 503
    moved.rename(memory.root)
    assert page.get("/").status == page.get("/live").status == 200


def test_entries_are_filtered_and_paged(page: Client, memory: Memory, filled: dict[str, str]) -> None:
    for number in range(PER_PAGE + 5):
        memory.add("note", f"Remark number {number}")

    def ids(address: str) -> list[str]:
        return [
            attrs["href"].rpartition("/")[2] for attrs in page.get(address).html.all("a") if attrs.get("class") == "id"
        ]

    first, second = ids("/entries?kind=note"), ids("/entries?kind=note&page=2")
    assert len(first) == PER_PAGE and len(second) == 6 and not set(first) & set(second)
    assert ids("/entries?kind=decision") == [filled["new"], filled["decision"]]
    assert ids("/entries?standing=proposed") == [filled["proposed"]]
    assert ids("/entries?standing=rejected") == [filled["rejected"]]
    assert set(ids("/entries?path=src/pool.py")) == {filled[name] for name in ("trial", "hotfile", "worked")}
    assert set(ids("/entries?path=src")) > set(ids("/entries?path=src/pool.py"))
    assert filled["decision"] in ids("/entries?by=ada&kind=decision") and filled["new"] not in ids("/entries?by=ada")
    assert ids("/entries?words=wal+mode") == [filled["decision"]]
    assert ids("/entries?state=stale") == []


def test_the_timeline_shows_what_held_and_what_was_known_on_a_day(page: Client, memory: Memory) -> None:
    memory.now -= 20 * DAY
    old = memory.add("decision", "Deploy on Friday")
    day = memory.now
    memory.now += 10 * DAY
    memory.add("decision", "Deploy on Monday", supersedes=[old])
    from backstory.records.times import format_instant

    then = format_instant(day)[:10]
    for axis in ("as_of", "known_at"):
        answer = page.get(f"/timeline?{axis}={then}").html.shown
        assert "Deploy on Friday" in answer and "Deploy on Monday" not in answer
    assert "Deploy on Monday" in page.get("/timeline").html.shown


def test_the_overview_says_what_the_next_session_sees_and_why(
    page: Client, memory: Memory, filled: dict[str, str]
) -> None:
    memory.put("src/wal.py", "y = 3\n")
    text = page.get("/").html.shown
    assert "Chose WAL mode" in text and "it cites a file that is being worked on" in text
    assert "Log in UTC alone" not in text.partition("Recorded lately")[0]


def test_a_case_is_told_as_a_story(page: Client, filled: dict[str, str]) -> None:
    text = page.get(f"/case/{filled['issue']}").html.shown
    order = ["The nightly hangs", "Two lock orders", "Sort the locks", "Locks in order of ids"]
    places = [text.index(words) for words in order]
    assert places == sorted(places) and "This case is closed" in text


def test_the_files_that_bite_come_first(page: Client, filled: dict[str, str]) -> None:
    answer = page.get("/files")
    paths = [attrs["href"] for attrs in answer.html.all("a") if attrs.get("class") == "path"]
    assert paths == ["/file/src/pool.py", "/file/src/wal.py"]
    assert len(answer.html.all("rect")) == 2


def test_a_file_that_nobody_cites_is_on_the_map_when_a_commit_to_it_was_backed_out(
    page: Client, memory: Memory
) -> None:
    memory.commit("Try threads", src__threads_py="import threading\n")
    memory.git("revert", "--no-edit", "HEAD")
    memory.tick()
    assert "src/threads.py" not in page.get("/files").text
    with memory.open() as project:
        refresh(project)
    answer = page.get("/files").html
    row = answer.shown.partition("Commits since")[2].split()
    assert row[:7] == ["src/threads.py", "0", "0", "0", "0", "1", "0"]
    (tile,) = [
        attrs for attrs in answer.all("a") if attrs.get("href") == "/file/src/threads.py" and "aria-label" in attrs
    ]
    assert "1 backed out" in tile["aria-label"]


def test_the_log_shows_links_and_what_is_wrong(page: Client, memory: Memory, filled: dict[str, str]) -> None:
    before = page.get("/log").html.shown
    assert "found every line in its place" in before and "An old remark retired" in before
    (shard,) = (memory.root / ".backstory" / "log").glob("*.jsonl")
    shard.write_bytes(shard.read_bytes().replace(b"Chose WAL mode", b"Chose another "))
    after = page.get("/log")
    assert "the content does not match its hash" in after.html.shown
    assert "problem(s)" in page.get("/").html.shown


def test_what_changed_is_told_to_an_open_page(page: Client, memory: Memory, filled: dict[str, str]) -> None:
    before = page.get("/live").text
    assert page.get("/live").text == before
    memory.add("note", "Something new")
    assert page.get("/live").text != before


def test_a_file_shows_what_other_projects_learned_of_what_it_uses_until_they_withdraw_it(
    page: Client, memory: Memory, tmp_path: Path
) -> None:
    manifest = '[project]\nname = "x"\nversion = "1"\ndependencies = ["pydantic>=2.5"]\n'
    memory.commit("Use it", **{"pyproject.toml": manifest, "src__models_py": "import pydantic\n"})
    new_repo(tmp_path / "other")
    other = Memory(tmp_path / "other", name="other")
    other.now = memory.now
    id_ = other.add("lesson", "A union tries each member", PERSON, libraries=["pydantic@>=2"])
    with other.open() as project:
        sharing.share(project, PERSON, id_)
    told = page.get("/file/src/models.py").html.shown
    assert "Lesson from other on pydantic@>=2: A union tries each member" in told
    assert "A union tries" not in page.get("/file/src/pool.py").html.shown
    other.act("retire", id_)
    assert "A union tries" not in page.get("/file/src/models.py").html.shown
